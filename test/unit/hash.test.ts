// The short name of what an object holds: the same for the same content, whoever wrote it down.
import { expect, test } from 'vitest';
import { hashOf, isSame, sorted } from '../../shared/hash.ts';

const CONTENT = { b: [{ d: 1, c: null }], a: 'text' };

test('the order in which fields were written changes no hash', () => {
  const same = { a: 'text', b: [{ c: null, d: 1 }] };
  expect(hashOf(same)).toBe(hashOf(CONTENT));
  expect(JSON.stringify(sorted(CONTENT))).toBe(JSON.stringify(same));
});

test.each<[string, unknown]>([
  ['value', { ...CONTENT, a: 'other' }],
  ['field', { ...CONTENT, e: 1 }],
  ['order in a list', { ...CONTENT, b: [{ d: 1, c: null }, 0].toReversed() }],
])('another %s is another hash', (_, other) => {
  expect(hashOf(other)).not.toBe(hashOf({ ...CONTENT, b: [{ d: 1, c: null }, 0] }));
  expect(hashOf(other)).not.toBe(hashOf(CONTENT));
});

test('objects that exist carry such hashes, so the same content has the same for ever', () => {
  expect(hashOf(CONTENT)).toBe('c7f4f3a80f0a9e2c');
});

test.each<[string, unknown, unknown]>([
  ['text', 'a', 'a'],
  ['field in another order', { a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }],
  ['field without a value', { a: 1, b: undefined }, { a: 1 }],
  ['value', { a: 1 }, { a: 2 }],
  ['field', { a: 1 }, { a: 1, b: null }],
  ['field of the other one', { a: 1, b: null }, { a: 1 }],
  ['order in a list', [1, 2], [2, 1]],
  ['longer list', [1], [1, 2]],
  ['list of the same fields', { 0: 'a' }, ['a']],
  ['field with a name of the language', JSON.parse('{"__proto__":1}'), {}],
])('the same or another %s: two are the same where their hashes are', (_, one, other) => {
  expect(isSame(one, other)).toBe(hashOf(one) === hashOf(other));
});
