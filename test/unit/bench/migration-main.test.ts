// The command line with which one side of the migration benchmarks is looked at alone.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../../shared/arguments.ts';
import { readOptions, USAGE } from '../../bench/migration/options.ts';

const main = resolve(import.meta.dirname, '../../bench/migration/main.ts');
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });

test.each([
  ['no side', [], 'name at least one side'],
  ['a side that does not exist', ['nobody'], 'there is no side nobody'],
  ['no objects', ['--objects', '0', 'in-tree'], '--objects and --runs want whole numbers'],
  ['an option that does not exist', ['--fast'], '--fast'],
])('asked for %s it says so', (_case, args, said) => {
  expect(() => readOptions(args, ['ours', 'in-tree'])).toThrow(UsageError);
  expect(() => readOptions(args, ['ours', 'in-tree'])).toThrow(said);
});

test('it shows its usage and ends with 2 where it cannot follow', () => {
  const { status, stdout, stderr } = run('nobody');
  const said = `there is no side nobody\n${USAGE}\n`;
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: said });
});

test('asked for help it names the sides and ends with 0', () => {
  const { status, stdout } = run('--help');
  expect(stdout).toContain('ours, in-tree, in-tree-idle, cluster-api, knative');
  expect(status).toBe(0);
});
