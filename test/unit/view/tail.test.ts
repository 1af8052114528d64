// New lines of a part are shown once.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newLines } from '../../../knative/try/local/view/tail.ts';

test.each([
  ['nothing before', [], ['a', 'b'], ['a', 'b']],
  ['two lines more', ['a', 'b'], ['a', 'b', 'c', 'd'], ['c', 'd']],
  ['none more', ['a', 'b'], ['a', 'b'], []],
  ['the first ones lost', ['a', 'b', 'c'], ['c', 'd'], ['d']],
  ['all of them lost', ['a', 'b'], ['x', 'y'], ['x', 'y']],
  ['started anew', ['a', 'b'], [], []],
])('%s', (_, before, now, expected) => {
  expect(newLines(before, now)).toEqual(expected);
});

test('a part that prints only different lines is followed without gap or repetition', () => {
  const counts = fc.array(fc.nat(8), { maxLength: 20 });
  fc.assert(
    fc.property(counts, (steps) => {
      const all: string[] = [];
      const shown: string[] = [];
      let before: readonly string[] = [];
      for (const step of steps) {
        for (let line = 0; line < step; line += 1) all.push(`line ${all.length}`);
        const now = all.slice(-10);
        shown.push(...newLines(before, now));
        before = now;
      }
      expect(shown).toEqual(all);
    }),
  );
});
