// The documents have every reason of Blocked, and what to do about it.
import { readFile, readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';

const FUNCTION = new URL('../../../functions/storage-migration/', import.meta.url);
const PAGE = new URL('../../../docs/storage-migration.md', import.meta.url);
/** Reasons of the other conditions, and of the Events on a CRD. */
const OTHERS = [
  'Blocked',
  'Done',
  'NotBlocked',
  'NotProved',
  'Paused',
  'Preflight',
  'StoredVersionsRestored',
  'StoredVersionsTrimmed',
];

async function reasonsInCode(): Promise<readonly string[]> {
  const names = (await readdir(FUNCTION)).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, FUNCTION), 'utf8')));
  const text = texts.join('\n');
  const found = [
    ...text.matchAll(/reason: (?:\w+ \? )?'([A-Z]\w+)'(?: : '([A-Z]\w+)')?/g),
    // Those that more than one place has to know.
    ...text.matchAll(/const (?!ORDER_KIND)[A-Z_]+ = '([A-Z][a-z]+[A-Z]\w+)';/g),
  ];
  const words = found
    .flatMap(([, one, other]) => [one, other])
    .filter((word) => word !== undefined);
  return [...new Set(words)].filter((word) => !OTHERS.includes(word)).toSorted();
}

test('every reason of Blocked stands in docs/storage-migration.md, and no other', async () => {
  const page = await readFile(PAGE, 'utf8');
  const [, section = ''] = page.split('## When it is Blocked');
  const [list = ''] = section.split('\n## ');
  const documented = [...list.matchAll(/^- `(\w+)`:/gm)].map(([, reason = '']) => reason);
  expect(documented.toSorted()).toEqual(await reasonsInCode());
});
