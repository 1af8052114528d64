// Every reason for which a cluster waits is in the documents, with what to do.
import { readFile, readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';

const FUNCTION = new URL('../../../functions/nats-cluster/', import.meta.url);
const PAGE = new URL('../../../docs/nats.md', import.meta.url);
/** Reasons of the conditions when nothing is amiss. */
const WELL = ['Changing', 'NotDegraded', 'Settled', 'Whole'];
/** The reason that dead-letters writes while the function is dead. */
const BY_OTHERS = 'NotSwept';

/** The function's own files, and the pieces for stateful servers that they are made with. */
async function textsOfCode(): Promise<readonly string[]> {
  const names = (await readdir(FUNCTION)).filter((name) => name.endsWith('.ts'));
  const toRead = names.map((name) => new URL(name, FUNCTION).href);
  const texts = new Map<string, string>();
  for (let file = toRead.pop(); file !== undefined; file = toRead.pop()) {
    if (texts.has(file)) continue;
    const text = await readFile(new URL(file), 'utf8');
    texts.set(file, text);
    const imported = [...text.matchAll(/ from '(\.[^']+)'/g)].map(([, from = '']) => from);
    const pieces = imported.map((from) => new URL(from, file).href);
    toRead.push(...pieces.filter((one) => one.includes('/shared/stateful/')));
  }
  return [...texts.values()];
}

async function reasonsInCode(): Promise<readonly string[]> {
  const text = (await textsOfCode()).join('\n');
  const found = [...text.matchAll(/(?:reason: |reasonFrom\()'([A-Z]\w+)'/g)].map(
    ([, word = '']) => word,
  );
  return [...new Set(found)].filter((word) => !WELL.includes(word)).toSorted();
}

test('every reason to wait stands in docs/nats.md, and no other', async () => {
  const [, section = ''] = (await readFile(PAGE, 'utf8')).split('## When it waits');
  const [table = ''] = section.split('\n## ');
  const cells = [...table.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell);
  const documented = cells.flatMap((cell) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, one = '']) => one),
  );
  expect(documented.toSorted()).toEqual([...(await reasonsInCode()), BY_OTHERS].toSorted());
});
