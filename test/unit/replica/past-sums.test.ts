// Sums of ledgers from a while ago, within bounds.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Digest, digestText } from '../../../shared/feed/digest.ts';
import { PastSums, type Remembered } from '../../../shared/nats/replica/past-sums.ts';

const ledger = (): Remembered => ({ digest: new Digest(), latest: -1, since: 0 });

function change(past: PastSums, one: Remembered, sequence: number, nowMs = 0): string {
  past.note(one, sequence, nowMs);
  one.digest.add({ high: sequence, low: -sequence });
  return one.digest.toString();
}

function textAt(past: PastSums, one: Remembered, version: number): string | undefined {
  const sum = past.at(one, version);
  return sum && digestText(sum);
}

test('every state that is remembered is one that the ledger had, whatever the others do', () => {
  const changes = fc.array(fc.record({ which: fc.nat(2), step: fc.integer({ min: 1, max: 3 }) }));
  fc.assert(
    fc.property(changes, (steps) => {
      const past = new PastSums();
      const ledgers = [ledger(), ledger(), ledger()];
      const states = ledgers.map((one) => [{ from: 0, text: one.digest.toString() }]);
      let sequence = 0;
      for (const { which, step } of steps) {
        sequence += step;
        const one = ledgers[which];
        if (one) states[which]?.push({ from: sequence, text: change(past, one, sequence) });
      }
      for (const [index, one] of ledgers.entries()) {
        for (let version = 0; version <= sequence + 1; version += 1) {
          const text = states[index]?.findLast(({ from }) => from <= version)?.text;
          expect(textAt(past, one, version)).toBe(text);
        }
      }
    }),
  );
});

test('a storm is remembered as far as the bytes go, and nothing is made up beyond', () => {
  const past = new PastSums();
  const [busy, quiet] = [ledger(), ledger()];
  const quietText = change(past, quiet, 1);
  const texts = Array.from({ length: 100_000 }, (_, index) => change(past, busy, index + 2));
  expect(past.size).toBeLessThanOrEqual(32 * 1_024);
  expect(past.size).toBeGreaterThan(31 * 1_024);
  expect(textAt(past, busy, 100_001 - 30_000)).toBe(texts.at(-1 - 30_000));
  expect(textAt(past, busy, 50_000)).toBeUndefined();
  expect(textAt(past, quiet, 0)).toBeUndefined();
  expect(textAt(past, quiet, 1)).toBe(quietText);
});

test('what is old goes when more comes', () => {
  const past = new PastSums();
  const one = ledger();
  for (let sequence = 1; sequence <= 1_024; sequence += 1) change(past, one, sequence);
  change(past, one, 1_025, 60_001);
  expect(past.size).toBe(1);
  expect([past.at(one, 1_023), past.at(one, 1_024)?.objects]).toEqual([undefined, 1_024]);
  past.clear();
  expect([past.size, one.latest]).toEqual([0, -1]);
});
