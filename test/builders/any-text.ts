// Any text that UTF-16 can say, half characters aside. fast-check's own unit for it sorts all of
// Unicode first, for a second in each file that asks.
import fc from 'fast-check';

const SURROGATES = { from: 0xd8_00, count: 0x8_00 };
const LAST = 0x10_ff_ff;

const character = fc
  .oneof(fc.nat(0x7f), fc.nat(LAST - SURROGATES.count))
  .map((code) => String.fromCodePoint(code < SURROGATES.from ? code : code + SURROGATES.count));

export const anyText = (minLength = 0): fc.Arbitrary<string> =>
  fc.string({ unit: character, minLength });
