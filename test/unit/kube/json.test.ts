// Whatever the API server may send comes out as it went in.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseLossless } from '../../../shared/kube/json.ts';

const roundTrip = (text: string): string => JSON.stringify(parseLossless(text));

test('64-bit integers keep every digit, wherever they stand', () => {
  const text = '{"a":9223372036854775807,"b":[-9223372036854775808,{"c":9007199254740993}]}';
  expect(roundTrip(text)).toBe(text);
});

test('digits inside texts are left alone', () => {
  const text = '{"a":":9223372036854775807","b":"[12345678901234567890"}';
  expect(parseLossless(text)).toEqual(JSON.parse(text));
});

test('what a number can hold is a number', () => {
  expect(parseLossless('{"a":1,"big":9223372036854775807,"b":1.5}')).toMatchObject({
    a: 1,
    b: 1.5,
  });
  expect(parseLossless('[9007199254740991, 1e300, 0.1234567890123456789]')).toEqual([
    9007199254740991, 1e300, 0.12345678901234568,
  ]);
});

test('any integer survives, and any JSON value is read as JSON.parse reads it', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  fc.assert(fc.property(int64, (value) => roundTrip(`{"v":${value}}`) === `{"v":${value}}`));
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(roundTrip(text)).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});
