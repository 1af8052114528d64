// The set of keys that a snapshot's reader has met, against a set of strings.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeySet } from '../../../shared/etcd/snapshot/key-set.ts';

const add = (seen: KeySet, key: string, isLast = false): boolean => {
  const bytes = Buffer.from(`..${key}.`);
  return seen.add(bytes, 2, bytes.length - 1, isLast);
};

test('says of each key whether it was there, as a set of strings does', () => {
  const property = fc.property(
    fc.array(fc.string({ maxLength: 6 }), { maxLength: 300 }),
    (keys) => {
      const seen = new KeySet();
      const witness = new Set<string>();
      for (const key of keys) {
        expect(add(seen, key)).toBe(!witness.has(key));
        witness.add(key);
      }
    },
  );
  fc.assert(property);
});

test('of two hundred thousand keys that are nearly alike, none is taken for another', () => {
  const seen = new KeySet();
  const keys = Array.from({ length: 200_000 }, (_, index) => `/registry/pods/web/pod-${index}`);
  expect(keys.filter((key) => !add(seen, key))).toEqual([]);
  expect(keys.filter((key) => add(seen, key))).toEqual([]);
});

test('when it is full, it keeps only keys of which another record may come', () => {
  const seen = new KeySet(2);
  expect([add(seen, 'a', true), add(seen, 'b', true), add(seen, 'c', true)]).toEqual([
    true,
    true,
    true,
  ]);
  // "c" was not kept, "a" was; "d" has to be.
  expect([add(seen, 'a', true), add(seen, 'c', true)]).toEqual([false, true]);
  expect([add(seen, 'd'), add(seen, 'd', true)]).toEqual([true, false]);
});
