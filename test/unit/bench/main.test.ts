// The command line of the benchmarks, and the process accounts they stand on.

import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { cpuSeconds, residentBytes } from '../../bench/cpu.ts';

const main = resolve(import.meta.dirname, '../../bench/main.ts');
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });

test.each([
  ['no benchmark', [], 'Name one benchmark.'],
  ['one that does not exist', ['P0'], 'There is no benchmark P0'],
  ['an option that does not exist', ['P9', '--fast'], '--fast'],
])('asked for %s it says so, shows its usage and ends with 2', (_case, args, said) => {
  const { status, stdout, stderr } = run(...args);
  expect(stderr).toContain(said);
  expect(stderr).toContain('npm run bench -- --list');
  expect(stdout).toBe('');
  expect(status).toBe(2);
});

test('the account of a process grows by the time it was busy', async () => {
  const before = await cpuSeconds(process.pid);
  const busy = process.cpuUsage();
  let spent = 0;
  while (spent < 200_000) {
    const { user, system } = process.cpuUsage(busy);
    spent = user + system;
  }
  const grown = (await cpuSeconds(process.pid)) - before;
  expect(grown).toBeGreaterThanOrEqual(0.18);
  expect(grown).toBeLessThan(2);
});

test('the memory of a process is in bytes', async () => {
  const bytes = await residentBytes(process.pid);
  expect(bytes / process.memoryUsage().rss).toBeCloseTo(1, 0);
});

test('the memory of a process that has ended is an error, not zero', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  await expect(residentBytes(pid)).rejects.toThrow(`Process ${pid} has no memory`);
});
