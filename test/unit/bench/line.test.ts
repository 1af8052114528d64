// The cost of one more reader, and how late the slowest are.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { percentile, slope } from '../../bench/feed/line.ts';

test('a slope is what one more costs, whatever the first one costs', () => {
  const whole = { min: -1_000, max: 1_000 };
  fc.assert(
    fc.property(fc.integer(whole), fc.integer(whole), (base, each) => {
      const points = [1, 50, 200, 1_000].map((x) => ({ x, y: base + each * x }));
      expect(slope(points)).toBeCloseTo(each, 6);
    }),
  );
});

test('points that lie on both sides of a flat line have no slope', () => {
  const points = [3, 5, 5, 3].map((y, x) => ({ x, y }));
  expect(slope(points)).toBeCloseTo(0, 9);
});

test.each([
  [0.5, 50],
  [0.99, 99],
  [1, 100],
])('of 1 to 100 the share %d is not above %d', (share, expected) => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(values, share)).toBe(expected);
});

test('a percentile of nothing is no number, so that it passes no limit', () => {
  expect(percentile([], 0.99)).toBeNaN();
});
