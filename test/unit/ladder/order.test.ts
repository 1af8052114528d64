// Which rungs begin first, and what is recorded for it.

import { expect, test } from 'vitest';
import { inOrder } from '../../ladder/order.ts';
import { readRecorded, withTimes } from '../../ladder/recorded.ts';
import { rungs } from '../../ladder/rungs.ts';

const ladder = rungs.filter(({ name }) => !name.includes(':'));
const order = (seconds: Record<string, number>): string[] =>
  inOrder(ladder, { rungs: seconds, files: {} }).map(({ name }) => name);

test('checks come first, and of those the one that most waits for', () => {
  const names = order({ unit: 80, contract: 40, integration: 300, cluster: 400, knative: 200 });
  expect(names.slice(0, 3)).toEqual(['parts', 'node', 'bundles']);
  expect(names.slice(3, 5).toSorted()).toEqual(['lint', 'types']);
  expect(names.slice(5)).toEqual(['cluster', 'integration', 'knative', 'unit', 'contract']);
});

test('rungs of tests whose time nobody knows come before those that are known', () => {
  const names = order({ unit: 80, integration: 300, cluster: 400, knative: 200 });
  expect(names[5]).toBe('contract');
});

test('what was climbed is recorded, the longest first, and the rest stays', () => {
  const file = (name: string, wallSeconds: number) => ({ file: name, wallSeconds, cpuSeconds: 0 });
  const files = [file('a', 4.4), file('b', 2.4), file('new', 9.6)];
  const climbedTimes = [
    { rung: 'unit', state: 'passed', tookMs: 80_400, files },
    { rung: 'contract', state: 'failed', tookMs: 900_000, files: [file('kept', 900)] },
  ] as const;
  const before = { rungs: { unit: 9, contract: 40 }, files: { b: 7, kept: 5, gone: 5 } };
  const after = withTimes(before, climbedTimes, (name) => name !== 'gone');
  expect(Object.entries(after.rungs)).toEqual([
    ['unit', 80],
    ['contract', 40],
  ]);
  expect(Object.entries(after.files)).toEqual([
    ['new', 10],
    ['kept', 5],
    ['a', 4],
  ]);
});

test('a fresh clone has recorded times', () => {
  const recorded = readRecorded();
  const tests = ladder.filter(({ counts }) => counts === 'tests').map(({ name }) => name);
  expect(Object.keys(recorded.rungs)).toEqual(expect.arrayContaining(tests));
  expect(Object.keys(recorded.files).length).toBeGreaterThan(10);
});
