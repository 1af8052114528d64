// Fields that were sent and did not come back.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lostFields } from '../../../../functions/storage-audit/against/lost.ts';

test.each([
  ['nothing', { a: 1, b: [1, { c: 2 }] }, { a: 1, b: [1, { c: 2 }] }, []],
  ['a default is no loss', { a: 1 }, { a: 1, b: 2 }, []],
  ['null is nothing', { a: null }, {}, []],
  ['a field', { a: { b: 1, c: 2 } }, { a: { b: 1 } }, ['.a.c']],
  ['a whole branch, by its top', { a: { b: { c: 1 } } }, { a: {} }, ['.a.b']],
  ['one of each item, once', { a: [{ b: 1 }, { b: 2 }] }, { a: [{}, {}] }, ['.a[].b']],
  ['a key that is no word', { a: { 'x/y.z': 1 } }, { a: {} }, ['.a["x/y.z"]']],
  ['a key of every object', { a: { constructor: 1 } }, { a: {} }, ['.a.constructor']],
])('%s', (_, sent, kept, expected) => {
  expect(lostFields(sent, kept)).toEqual(expected);
});

test('whatever comes back as it was sent lost nothing', () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 4 }), (sent) => {
      expect(lostFields(sent, structuredClone(sent))).toEqual([]);
    }),
  );
});

test('an object that nests deeper than calls may is read, and few of many paths are kept', () => {
  const nested = (end: object): unknown => {
    let value: unknown = end;
    for (let depth = 0; depth < 20_000; depth += 1) value = { a: value };
    return value;
  };
  expect(lostFields(nested({ b: 1 }), nested({}))).toHaveLength(1);
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, {}]));
  expect(lostFields({ many }, { many: {} })).toHaveLength(200);
});
