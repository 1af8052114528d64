// The order in which a benchmark runs its sides, and one small benchmark from end to end.

import { expect, test } from 'vitest';
import type { Bench, Side } from '../../bench/runner.ts';
import { orderOf, runPairs } from '../../bench/runner.ts';
import { judge } from '../../bench/verdict.ts';

const counting = (name: string, value: number, ran: string[]): Side => ({
  name,
  run: () => {
    ran.push(name);
    return Promise.resolve({ cost: value });
  },
});

const bench = (sides: readonly Side[]): Bench => ({
  id: 'P0',
  title: 'two constants',
  pairs: 5,
  figures: [
    { name: 'cost', unit: 's', ours: 'ours', against: 'peer', limit: 0.6, better: 'lower' },
  ],
  open: () => Promise.resolve({ sides, close: () => Promise.resolve() }),
});

test('pairs alternate their order, so that neither side always comes first', () => {
  const first = ['small', 'large', 'peer'].map((name) => ({ name, into: 'samples' }));
  const second = ['small', 'large'].map((name) => ({ name, into: 'again' }));
  const sides = ['small', 'large', 'peer'];
  expect(orderOf(0, sides, ['small', 'large'])).toEqual([...first, ...second]);
  expect(orderOf(1, sides, ['small', 'large'])).toEqual([...first, ...second].toReversed());
});

test('a run warms each side up once and then measures ours twice in each pair', async () => {
  const ran: string[] = [];
  const sides = [counting('peer', 2, ran), counting('ours', 1, ran)];
  const pairs = await runPairs(bench(sides), sides, 2, () => {});
  expect(ran.slice(0, 2)).toEqual(['peer', 'ours']);
  expect(ran.slice(2)).toEqual(['ours', 'peer', 'ours', 'ours', 'peer', 'ours']);
  expect(pairs).toEqual([
    { samples: { ours: { cost: 1 }, peer: { cost: 2 } }, again: { ours: { cost: 1 } } },
    { samples: { ours: { cost: 1 }, peer: { cost: 2 } }, again: { ours: { cost: 1 } } },
  ]);
});

test('a side beside another is asked after each run of that one, and never by itself', async () => {
  const ran: string[] = [];
  let seen = 0;
  const sides: Side[] = [
    {
      name: 'ours',
      run: () => {
        ran.push('ours');
        seen += 1;
        return Promise.resolve({ cost: seen });
      },
    },
    { name: 'peer', beside: 'ours', run: () => Promise.resolve({ cost: seen * 10 }) },
  ];
  const pairs = await runPairs(bench(sides), sides, 2, () => {});
  expect(ran).toHaveLength(5);
  expect(pairs).toEqual([
    { samples: { ours: { cost: 2 }, peer: { cost: 20 } }, again: { ours: { cost: 3 } } },
    { samples: { ours: { cost: 5 }, peer: { cost: 50 } }, again: { ours: { cost: 4 } } },
  ]);
});

test('a side that a figure names and nobody opened is named in the error', async () => {
  const sides = [counting('peer', 2, [])];
  await expect(runPairs(bench(sides), sides, 1, () => {})).rejects.toThrow('P0 names a side ours');
});

test('a real measurement of more work against less work tells which is more', async () => {
  const work = (name: string, rounds: number): Side => ({
    name,
    run: () => {
      const before = process.cpuUsage();
      let text = '';
      for (let round = 0; round < rounds; round += 1) text = JSON.stringify({ text: round });
      const { user, system } = process.cpuUsage(before);
      return Promise.resolve({ cost: user + system + text.length });
    },
  });
  const sides = [work('ours', 20_000), work('peer', 200_000)];
  const pairs = await runPairs(bench(sides), sides, 5, () => {});
  const [result] = judge(bench(sides), pairs);
  expect(result?.ratio.median).toBeGreaterThan(0.01);
  expect(result?.ratio.median).toBeLessThan(0.6);
});
