// Medians, verdicts, and the words and the JSON in which they are said.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonLine, page } from '../../bench/report.ts';
import type { Bench, Figure, Pair } from '../../bench/runner.ts';
import { judge, median } from '../../bench/verdict.ts';

const figure = (more: Partial<Figure> = {}): Figure => ({
  name: 'cpu',
  unit: 's',
  ours: 'ours',
  against: 'peer',
  limit: 0.5,
  better: 'lower',
  ...more,
});

const benchOf = (...figures: readonly Figure[]): Bench => ({
  id: 'P0',
  title: 'numbers made up',
  pairs: 5,
  figures,
  open: () => Promise.resolve({ sides: [], close: () => Promise.resolve() }),
});

const pair = (ours: number, peer: number, second = ours): Pair => ({
  samples: { ours: { cpu: ours }, peer: { cpu: peer } },
  again: { ours: { cpu: second } },
});

const verdictOf = (judged: Figure, pairs: readonly Pair[]): string | undefined =>
  judge(benchOf(judged), pairs)[0]?.verdict;

describe('median', () => {
  test.each([
    [[3, 1, 2], 2],
    [[4, 1, 2, 3], 2.5],
    [[7], 7],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  test('with one that is no number is none', () => {
    expect(median([3, Number.NaN, 1])).toBeNaN();
  });

  test('of nothing is no number', () => {
    expect(median([])).toBeNaN();
  });

  test('has as many values on one side as on the other, whatever the order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const middle = median(values);
        const below = values.filter((value) => value < middle).length;
        const above = values.filter((value) => value > middle).length;
        expect(below).toBeLessThanOrEqual(values.length / 2);
        expect(above).toBeLessThanOrEqual(values.length / 2);
        expect(median(values.toReversed())).toBe(middle);
      }),
    );
  });
});

describe('a verdict', () => {
  test.each([
    ['pass when the ratio is on the limit', figure(), [pair(1, 2)], 'pass'],
    ['fail when lower is better and it is above', figure(), [pair(1.1, 2)], 'fail'],
    ['pass when higher is better', figure({ better: 'higher', limit: 2 }), [pair(4, 2)], 'pass'],
    ['fail when higher is wanted', figure({ better: 'higher', limit: 2 }), [pair(3, 2)], 'fail'],
    ['pass on the median of the pairs', figure(), [pair(1, 4), pair(1, 3), pair(9, 2)], 'pass'],
    ['void when ours was 11 % slower than itself', figure(), [pair(1, 4, 1.11)], 'void'],
    ['void when ours was 11 % faster than itself', figure(), [pair(1, 4, 0.89)], 'void'],
    ['pass when ours was 9 % slower than itself', figure(), [pair(1, 4, 1.09)], 'pass'],
    ['void when the other side cost nothing', figure(), [pair(1, 0)], 'void'],
    ['void when nothing cost anything', figure(), [pair(0, 0)], 'void'],
  ])('is %s', (_case, judged, pairs, expected) => {
    expect(verdictOf(judged, pairs)).toBe(expected);
  });

  test('reads the value that the figure names, when it is called otherwise', () => {
    const judged = figure({ name: 'cpu against peer', sample: 'cpu' });
    expect(verdictOf(judged, [pair(1, 4)])).toBe('pass');
  });

  test('is refused when a side gave no such value', () => {
    expect(() => verdictOf(figure({ name: 'memory' }), [pair(1, 4)])).toThrow(
      'The side ours gave no value for the figure memory.',
    );
  });
});

describe('the report', () => {
  const bench = benchOf(figure(), figure({ name: 'wall', sample: 'cpu', limit: 0.1 }));

  test('in JSON is one line with the first figure in front and the others beside it', () => {
    const line = jsonLine(bench, judge(bench, [pair(1, 4)]));
    expect(line).toBe(
      '{"id":"P0","ratio":0.25,"limit":0.5,"pass":true,' +
        '"also":{"wall":{"ratio":0.25,"limit":0.1,"pass":false}}}',
    );
  });

  test('in JSON says void and does not pass when the control failed', () => {
    const line = jsonLine(bench, judge(bench, [pair(1, 4, 2)]));
    expect(JSON.parse(line)).toMatchObject({ pass: false, void: true });
  });

  test('on paper names both sides, the ratio, the limit, the control and the verdict', () => {
    const text = page(bench, judge(bench, [pair(1, 4), pair(1, 2), pair(1, 4)]), 3);
    expect(text).toContain(`node ${process.version}`);
    expect(text).toMatch(/ours +1\.00 s \(worst 1\.00\)/);
    expect(text).toMatch(/peer +4\.00 s \(worst 4\.00\)/);
    expect(text).toMatch(/ratio +0\.250 \(worst pair 0\.500\)/);
    expect(text).toMatch(/limit +<= 0\.5/);
    expect(text).toMatch(/control +0\.0 %/);
  });

  test('on paper says why a row is void', () => {
    const text = page(bench, judge(bench, [pair(1, 4, 2)]), 1);
    expect(text).toContain('void - ours differed from itself by 100.0 %, more than 10 %');
  });
});

test('a difference about zero is checked by the value that its figure names', () => {
  const noise = (cpu: number, all: number) => ({ cpu, all });
  const pairs = [1, -3, 2, -1, 0.5].map((value): Pair => {
    const samples = { ours: noise(value, 100), peer: noise(1_000, 900) };
    return { samples, again: { ours: noise(-value, 102) } };
  });
  expect(verdictOf(figure({ limit: 0.01 }), pairs)).toBe('void');
  expect(verdictOf(figure({ limit: 0.01, control: 'all' }), pairs)).toBe('pass');
});

test('of two sides of ours each is held against itself, however far they lie apart', () => {
  const [small, large, peer] = [{ cpu: 1 }, { cpu: 10 }, { cpu: 100 }];
  const pairs = [{ samples: { small, large, peer }, again: { small, large } }];
  const results = judge(benchOf(figure({ ours: 'small' }), figure({ ours: 'large' })), pairs);
  expect(results.map(({ control }) => control)).toEqual([0, 0]);
});

test('a figure without a limit is stated, and says that it is no more than that', () => {
  const bench = benchOf(figure({ limit: Infinity }));
  const results = judge(bench, [pair(9, 1), pair(9, 1)]);
  expect(results[0]?.verdict).toBe('pass');
  expect(page(bench, results, 2)).toContain('none: stated only');
});

test('runs that give no number are void, and say so', () => {
  const bench = benchOf(figure());
  const results = judge(bench, [pair(Number.NaN, 1)]);
  expect(results[0]?.verdict).toBe('void');
  expect(page(bench, results, 1)).toContain('gave no number');
});
