// A sealed stream: whatever it has, and however it comes, it is opened as it was; and whatever is
// done to it, it is refused, and nothing is handed out that was not proved before.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HEADER_BYTES, sealedSizeOf, TAG_BYTES } from '../../../shared/sealed/chunks.ts';
import { readSealKey } from '../../../shared/sealed/key.ts';
import { keyFiles, keyOf, openedOf, sealedOf } from './samples.ts';

const CHUNK = 16;
/** As it lies in the stream. */
const WHOLE = CHUNK + TAG_BYTES;

const write = keyFiles();
const key = await keyOf(write, 1);
const other = await keyOf(write, 2);

const piecesOf = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b);
  const ends = [...places, bytes.length];
  return ends.map((end, index) => Buffer.from(bytes.subarray(places[index - 1] ?? 0, end)));
};

const bytesOf = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
const cutsOf = fc.array(fc.nat(1_000), { maxLength: 8 });

test('any bytes, in any pieces, come back as they were', () => {
  fc.assert(
    fc.property(bytesOf, cutsOf, cutsOf, fc.integer({ min: 1, max: 64 }), (plain, a, b, chunk) => {
      const sealed = sealedOf(piecesOf(plain, a), key, chunk);
      const opened = openedOf(piecesOf(sealed, b), key);
      const isWhole = opened.error === undefined && opened.plain.equals(plain);
      expect([isWhole, sealed.length]).toEqual([true, sealedSizeOf(plain.length, chunk)]);
    }),
  );
});

/** Three chunks and a half. */
const PLAIN = Buffer.from('0123456789abcdef'.repeat(3) + 'the end');
const SEALED = sealedOf([PLAIN], key, CHUNK);
const CHUNKS = [0, 1, 2, 3].map((number) => {
  const from = HEADER_BYTES + number * WHOLE;
  return SEALED.subarray(from, from + WHOLE);
});
const [one, two, three, last] = CHUNKS as [Buffer, Buffer, Buffer, Buffer];
const HEADER = SEALED.subarray(0, HEADER_BYTES);

/**
 * Whether it is refused so, and nothing of the chunk that begins there, or of one behind it, was
 * handed out.
 */
function isRefused(pieces: readonly Buffer[], told: RegExp, from: number): boolean {
  const { plain, error } = openedOf(pieces, key);
  const proved = Math.max(0, Math.floor((from - HEADER_BYTES) / WHOLE)) * CHUNK;
  const isProved = plain.length <= proved && PLAIN.subarray(0, plain.length).equals(plain);
  return isProved && told.test(`${Object(error).code}: ${Object(error).message}`);
}

test('each single bit that is another one is refused', () => {
  const taken = [...Array(SEALED.length * 8).keys()].filter((bit) => {
    const changed = Buffer.from(SEALED);
    const at = Math.floor(bit / 8);
    changed[at] = (changed[at] ?? 0) ^ (1 << (bit % 8));
    return !isRefused([changed], /^BACKUP_(CHANGED|KEY_WRONG|UNSEALED): /, at);
  });
  expect(taken).toEqual([]);
});

test('cut off at any place it is refused, and the byte is told', () => {
  const taken = [...SEALED.keys()].filter((length) => {
    const told =
      length === 0 ? '^BACKUP_UNSEALED' : `^BACKUP_CHANGED: .*cut off at byte ${length},`;
    return !isRefused([SEALED.subarray(0, length)], new RegExp(told), length);
  });
  expect(taken).toEqual([]);
});

const ANOTHER = sealedOf([PLAIN], key, CHUNK);
const anothers = (number: number): Buffer =>
  ANOTHER.subarray(HEADER_BYTES + number * WHOLE, HEADER_BYTES + (number + 1) * WHOLE);

test.each<[string, readonly Buffer[], number]>([
  ['two chunks exchanged', [HEADER, two, one, three, last], 0],
  ['a chunk doubled', [HEADER, one, one, two, three, last], 1],
  ['a chunk left out', [HEADER, one, three, last], 1],
  ['the first one left out', [HEADER, two, three, last], 0],
  ['the last one left out', [HEADER, one, two, three], 2],
  ['the last one doubled', [HEADER, one, two, three, last, last], 3],
  ['the last one moved', [HEADER, one, two, last], 2],
  ['a chunk of another stream in its place', [HEADER, one, anothers(1), three, last], 1],
  ['the last chunk of another stream', [HEADER, one, two, three, anothers(3)], 3],
  ['the header of another stream', [ANOTHER.subarray(0, HEADER_BYTES), one, two, three, last], 0],
  ['a byte more', [SEALED, Buffer.alloc(1)], 3],
  ['another stream behind it', [SEALED, ANOTHER], 3],
  ['nothing but its header', [HEADER], 0],
])('with %s it is refused', (_, pieces, proved) => {
  const from = HEADER_BYTES + proved * WHOLE;
  const told = new RegExp(`^BACKUP_CHANGED: .*bytes than were written,? from ${from}\\b`);
  expect(isRefused(pieces, told, from)).toBe(true);
});

test('with another key it is refused at its first bytes, and both are named', () => {
  const { plain, error } = openedOf([SEALED.subarray(0, HEADER_BYTES)], other);
  expect(plain).toEqual(Buffer.alloc(0));
  expect(error).toMatchObject({
    code: 'BACKUP_KEY_WRONG',
    message: expect.stringMatching(new RegExp(`key ${key.id}, .* is ${other.id}\\.`)),
  });
});

test('a header with the id of a key that did not write it is refused', () => {
  const forged = sealedOf([PLAIN], other, CHUNK);
  SEALED.subarray(52, 60).copy(forged, 52);
  expect(isRefused([forged], /^BACKUP_CHANGED: .*in its first 92 bytes/, 0)).toBe(true);
});

test('plain bytes are refused at the first one that shows it', () => {
  const { error } = openedOf([Buffer.from('ballast-sealed? no')], key);
  expect(error).toMatchObject({ code: 'BACKUP_UNSEALED' });
});

test('the same bytes are never sealed alike', () => {
  const [first, second] = [SEALED, ANOTHER].map((bytes) => bytes.subarray(HEADER_BYTES));
  expect(first?.equals(second ?? Buffer.alloc(0))).toBe(false);
  expect(SEALED.includes('0123456789')).toBe(false);
});

/** Written by the first version of this form, which every later one has to open. */
const OLD =
  'YmFsbGFzdC1zZWFsZWQKAQAAAAgDD8/tiAFV4/dZs0DI+/3GNmnoSBhtFaEZJrR0kT53UFYMjYwMORnDCQSjsV/W' +
  'N58//4BYulZfNgjvBbY4wqxQdEwvbOvSSvPaJpVYvf/RMDfUmYd18JozGftnhMUvTUT+NS8oT08J6deGWCWM5+Bg' +
  '9i5z99+urgA14stWhebJ1TU16oAK+YEhVj2CKQ==';

test('what was sealed long ago is opened', async () => {
  const old = await readSealKey(write('old', Buffer.from([...Array(32).keys()])));
  expect(openedOf([Buffer.from(OLD, 'base64')], old)).toEqual({
    plain: Buffer.from('a backup of long ago'),
    error: undefined,
  });
});
