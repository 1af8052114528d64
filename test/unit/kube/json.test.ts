// Whatever the API server may send comes out as it went in.
import { spawnSync } from 'node:child_process';
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

test.each([
  String.raw`{"a":9223372036854775807,"b":"\":9223372036854775807"}`,
  String.raw`{"a\\":[9223372036854775807],"b":"\\\":9223372036854775807"}`,
  String.raw`{"a":"\\","b":9223372036854775807,"c":"\\"}`,
])('a text ends at its quote and at no escaped one, whatever digits are in it: %s', (text) => {
  expect(roundTrip(text)).toBe(text);
});

test('a long integer at the root, and one below a thousand lists, keep their digits', () => {
  const deep = `${'['.repeat(1_000)}9223372036854775807${']'.repeat(1_000)}`;
  expect(roundTrip(deep)).toBe(deep);
  expect(roundTrip(' [9223372036854775807]')).toBe('[9223372036854775807]');
});

test('half a million small objects with one long integer fit into the memory of a function', () => {
  const { stdout, status } = spawnSync(process.execPath, [
    '--max-old-space-size=128',
    '--input-type=module',
    '--eval',
    `import { parseLossless } from '${import.meta.resolve('../../../shared/kube/json.ts')}';
     const terms = '{},'.repeat(700_000);
     const text = '{"a":9223372036854775807,"b":":9223372036854775807","c":[' + terms + '1]}';
     console.log(parseLossless(text).c.length);`,
  ]);
  expect([String(stdout), status]).toEqual(['700001\n', 0]);
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
