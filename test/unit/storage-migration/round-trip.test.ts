// Which fields an object has lost when it comes back from another version.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { missingIn } from '../../../functions/storage-migration/round-trip.ts';

const parts = [{ a: 1, b: 2 }, { a: 3 }];

test.each<[string, object, object, readonly string[]]>([
  ['a field', { spec: { a: 1, b: 2 } }, { spec: { b: 2 } }, ['.spec.a']],
  ['a part of it', { spec: { a: { b: 1, c: 2 } } }, { spec: { a: { c: 2 } } }, ['.spec.a.b']],
  [
    'a field of the first item',
    { spec: { parts } },
    { spec: { parts: [{ a: 1 }, { a: 3 }] } },
    ['.spec.parts[].b'],
  ],
  ['an item', { spec: { parts } }, { spec: { parts: [{ a: 1, b: 2 }] } }, ['.spec.parts[]']],
  ['all of it', { spec: { a: 1 } }, {}, ['.spec']],
  ['what became a text', { spec: { a: { b: 1 } } }, { spec: { a: 'x' } }, ['.spec.a.b']],
  ['nothing: other values', { spec: { a: 1 } }, { spec: { a: 2 } }, []],
  ['nothing: more than before', { spec: { a: 1 } }, { spec: { a: 1, b: 2 }, status: {} }, []],
  ['nothing: what was empty', { spec: { a: {}, b: [], c: '', d: null }, status: {} }, {}, []],
  ['nothing: metadata', { metadata: { name: 'a' }, kind: 'A', apiVersion: 'a' }, {}, []],
  ['a false, a zero', { spec: { a: false, b: 0 } }, { spec: {} }, ['.spec.a', '.spec.b']],
])('%s', (_, before, after, lost) => {
  expect(missingIn(before, after)).toEqual(lost);
});

test('nothing of any object that comes back as it was', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      expect(missingIn(object, structuredClone(object))).toEqual([]);
    }),
  );
});
