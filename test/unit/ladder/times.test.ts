// The cost of rungs and files: read from the notes of test files, and put into a table.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { processorSeconds } from '../../ladder/processor.ts';
import { readFileTimes, secondsApart, timesTable } from '../../ladder/times.ts';

test('the time of processors counts children that are over', () => {
  const before = processorSeconds();
  const busy = 'let sum = 0; for (let index = 0; index < 5e7; index += 1) sum += index;';
  spawnSync(process.execPath, ['-e', busy]);
  expect(processorSeconds() - before).toBeGreaterThan(0.02);
}, 60_000);

test('what files noted is read, and a run that noted nothing has none', async () => {
  const place = mkdtempSync(join(tmpdir(), 'ballast-times-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const path = join(place, 'times.jsonl');
  expect(await readFileTimes(path)).toEqual([]);
  const noted = [
    { file: 'unit/a.test.ts', wallSeconds: 1, cpuSeconds: 2 },
    { file: 'unit/b.test.ts', wallSeconds: 3, cpuSeconds: 4 },
  ];
  writeFileSync(path, noted.map((one) => `${JSON.stringify(one)}\n`).join(''));
  expect(await readFileTimes(path)).toEqual(noted);
});

test('a cluster is no file, and its time is added to that of its rung', () => {
  const file = { file: 'cluster/a.test.ts', wallSeconds: 1, cpuSeconds: 2 };
  const cluster = { file: 'daemons', wallSeconds: 5, cpuSeconds: 300, isApart: true } as const;
  const files = [file, cluster];
  expect(secondsApart(files)).toBe(300);
  const table = timesTable([{ rung: 'cluster', tookMs: 50_000, cpuSeconds: 310, files }], 60_000);
  expect(table).toContain('    50.0    310.0  cluster  1 files\n');
  expect(table).toContain('     5.0    300.0  daemons\n');
});

test('the dearest file stands first, and many cheap ones are one row', () => {
  const files = Array.from({ length: 42 }, (_, index) => ({
    file: `unit/${index}.test.ts`,
    wallSeconds: 1,
    cpuSeconds: index,
  }));
  const table = timesTable([{ rung: 'unit', tookMs: 50_000, cpuSeconds: 900, files }], 60_000);
  const rows = table.split('\n').filter((line) => /\d/.test(line));
  expect(rows[0]).toBe('    50.0    900.0  unit  42 files');
  expect(rows[1]).toBe('    60.0    900.0  all');
  expect(rows[2]).toBe('     1.0     41.0  unit/41.test.ts');
  expect(rows.at(-1)).toBe('     2.0      1.0  2 more files');
});
