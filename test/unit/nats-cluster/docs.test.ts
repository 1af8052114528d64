// Every reason for which a cluster waits is in the documents, with what to do.
import { readFile, readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';

const FUNCTION = new URL('../../../functions/nats-cluster/', import.meta.url);
const PAGE = new URL('../../../docs/nats.md', import.meta.url);
/** Reasons of the conditions when nothing is amiss. */
const WELL = ['Changing', 'NotDegraded', 'Settled', 'Whole'];
/** The reason that dead-letters writes while the function is dead. */
const BY_OTHERS = 'NotSwept';

async function reasonsInCode(): Promise<readonly string[]> {
  const names = (await readdir(FUNCTION)).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, FUNCTION), 'utf8')));
  const found = [...texts.join('\n').matchAll(/(?:reason: |reasonFrom\()'([A-Z]\w+)'/g)].map(
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
