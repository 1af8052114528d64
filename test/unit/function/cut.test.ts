// Texts of others are cut by bytes, and never within a character.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cut, isLongerThan } from '../../../shared/cut.ts';

/** One to four bytes each. */
const unit = fc.constantFrom('a', 'ü', '€', '😀');

test('a text is cut to the bytes of its place, and is its own beginning', () => {
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), fc.nat(50), (text, more) => {
      const bytesMax = more + 4;
      const shown = cut(text, bytesMax);
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(bytesMax);
      const isCut = Buffer.byteLength(text) > bytesMax;
      expect(isLongerThan(text, bytesMax)).toBe(isCut);
      const isBeginning = shown.endsWith('…') && text.startsWith(shown.slice(0, -1));
      expect(isCut ? isBeginning : shown === text).toBe(true);
    }),
  );
});
