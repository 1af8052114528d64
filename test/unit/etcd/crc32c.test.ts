// The checksum of pieces that are put before each other is that of the whole, wherever it was cut.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32c, Crc32cFromEnd } from '../../../shared/etcd/snapshot/crc32c.ts';

/** Bit by bit, as the polynomial says. */
function plain(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ ((crc & 1) * 0x82f63b78);
  }
  return ~crc >>> 0;
}

test('is the checksum of the standard', () => {
  expect(crc32c(0, Buffer.from('123456789'))).toBe(0xe3069283);
});

test('goes on from piece to piece, in both directions', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 70 })), fc.nat(7), (pieces, shift) => {
      // At any alignment.
      const aligned = pieces.map((piece) => {
        const room = new Uint8Array(piece.length + shift);
        room.set(piece, shift);
        return room.subarray(shift);
      });
      const whole = plain(Buffer.concat(pieces));
      expect(aligned.reduce((crc, piece) => crc32c(crc, piece), 0)).toBe(whole);
      const fromEnd = new Crc32cFromEnd();
      for (const piece of aligned.toReversed()) fromEnd.prepend(crc32c(0, piece), piece.length);
      expect(fromEnd.value).toBe(whole);
    }),
  );
});
