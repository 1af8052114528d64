// Until when a write may end that began under another stored version.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  passBeginsMs,
  type Settlement,
  writesEndAt,
} from '../../../functions/storage-migration/late-writes.ts';
import { at, crd as crdOf } from './samples.ts';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const iso = (agoMs: number): string => new Date(NOW_MS - agoMs).toISOString();

const endMs = (agoMs: number | undefined, more: Partial<Settlement> = {}): number => {
  const crd = { ...crdOf(), changedAt: agoMs === undefined ? undefined : iso(agoMs) };
  const settlement = { crd, longestWriteMs: 60_000, nowMs: NOW_MS, isNews: false, ...more };
  return Date.parse(writesEndAt(settlement) ?? iso(0)) - NOW_MS;
};

describe('writes may end', () => {
  test('for as long as they may take, after a change of the CRD just now', () => {
    expect(endMs(0)).toBe(61_000);
  });

  test('for what is left of it, with room for clocks that differ', () => {
    expect(endMs(40_000)).toBe(36_000);
    expect(endMs(74_000)).toBe(2_000);
  });

  test('no more, when it was changed long ago', () => {
    expect(endMs(75_000)).toBe(0);
    expect(endMs(86_400_000)).toBe(0);
  });

  test('as after a change just now, when nobody knows, or an API server lagged behind', () => {
    expect(endMs(undefined)).toBe(61_000);
    expect(endMs(86_400_000, { isNews: true })).toBe(61_000);
  });

  test('no longer than from now on, whatever the clocks', () => {
    const anyMs = fc.integer({ min: -1e9, max: 1e9 });
    fc.assert(
      fc.property(anyMs, (agoMs) => {
        expect(endMs(agoMs)).toBeLessThanOrEqual(61_000);
        expect(endMs(agoMs)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test('not at all for a built-in kind, or where nobody waits for them', () => {
    expect(endMs(0, { crd: undefined })).toBe(0);
    expect(endMs(0, { longestWriteMs: 0 })).toBe(0);
  });
});

describe('a pass', () => {
  const end = { writesEndAt: iso(-5_000) };
  const cursor = { after: 'web/a', continue: 'token', resourceVersion: '1' };
  test.each([
    ['that is to prove waits', at('Verifying', end), NOW_MS + 5_000],
    ['that rewrites does not', at('Rewriting', end), undefined],
    ['that is under way does not', at('Verifying', { ...end, cursor }), undefined],
    ['after that time does not', at('Verifying', { writesEndAt: iso(1) }), undefined],
    ['without such writes does not', at('Verifying'), undefined],
  ])('%s', (_, status, beginsMs) => {
    expect(passBeginsMs(status, NOW_MS)).toBe(beginsMs);
  });
});
