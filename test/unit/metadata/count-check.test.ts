// How many objects are too large to be shown, as sweeps count them.
import { expect, test } from 'vitest';
import { omittedByList, omittedSince } from '../../../functions/metadata/count-check.ts';

const row = { name: 'configmaps', resourceVersion: '1', verifiedAt: '', objects: 0 };
const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `shop/${name}`);
const met = (oversized: readonly string[]) => ({
  outcomes: { oversize: oversized.length },
  oversized,
});

test('objects that change with each sweep are counted once, named or not', () => {
  let said = omittedByList(met(names));
  for (let sweep = 0; sweep < 10; sweep += 1) {
    said = omittedSince(met([...names, ...names]), { ...row, ...said });
  }
  expect(said).toEqual({ oversize: 5, oversizeNames: ['shop/a', 'shop/b', 'shop/c'] });
});

test('one that is new is counted, and named while there is room', () => {
  const before = { ...row, ...omittedByList(met(['shop/a'])) };
  const said = omittedSince(met(['shop/new', 'shop/new']), before);
  expect(said).toEqual({ oversize: 2, oversizeNames: ['shop/a', 'shop/new'] });
});
