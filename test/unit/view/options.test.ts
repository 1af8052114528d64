// Options of a session, and the refusals of wrong ones.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../shared/arguments.ts';
import { sessionOptions } from '../../../knative/try/local/view/options.ts';

test('without arguments a small living cluster is asked for, and nothing is kept', () => {
  expect(sessionOptions([], undefined)).toEqual({
    nodes: 20,
    pods: 300,
    churnPerSecond: 2,
    dataDir: undefined,
    isPlain: false,
    apiPort: undefined,
    natsPort: undefined,
    step: undefined,
    devFunction: undefined,
  });
});

test('every option is taken', () => {
  const args =
    '--nodes 3 --pods=0 --churn 0 --plain --api-port 6443 --nats-port 4222 --step 2'.split(' ');
  expect(sessionOptions(args, undefined)).toMatchObject({
    nodes: 3,
    pods: 0,
    churnPerSecond: 0,
    isPlain: true,
    apiPort: 6443,
    natsPort: 4222,
    step: '2-stored',
  });
  expect(sessionOptions(['--keep'], undefined)?.dataDir).toMatch(/\.ballast\/data$/);
});

test('the function to work on is named among the options', () => {
  const functions = ['locate', 'metadata'];
  expect(sessionOptions(['metadata', '--plain'], functions)?.devFunction).toBe('metadata');
  expect(() => sessionOptions([], functions)).toThrow('there are: locate, metadata');
  expect(() => sessionOptions(['metdata'], functions)).toThrow('no function "metdata"');
  expect(() => sessionOptions(['locate', 'metadata'], functions)).toThrow('of "metadata"');
});

test.each([['-h'], ['--help'], ['--nodes', '3', '--help']])('%j %j asks for help', (...args) => {
  expect(sessionOptions(args, undefined)).toBeUndefined();
  expect(sessionOptions(args, ['metadata'])).toBeUndefined();
});

test.each([
  [['--nodes', 'many'], '--nodes wants a whole number from 1 to 5000, not "many"'],
  [['--nodes', '1e3'], '--nodes wants'],
  [['--nodes', '0'], '--nodes wants'],
  [['--nodes', '-1'], '--nodes'],
  [['--pods', '50001'], '--pods wants a whole number from 0 to 50000'],
  [['--churn', '0.5'], '--churn wants'],
  [['--api-port', '0'], '--api-port wants a whole number from 1 to 65535'],
  [['--nats-port', '65536'], '--nats-port wants'],
  [['--nodes'], '--nodes'],
  [['--fast'], '--fast'],
  [['plane'], 'nothing is known of "plane"'],
])('%j is refused by name', (args, message) => {
  expect(() => sessionOptions(args, undefined)).toThrow(UsageError);
  expect(() => sessionOptions(args, undefined)).toThrow(message);
});

describe.each(['start', 'dev'])('npm %s', (name) => {
  const main = fileURLToPath(new URL(`../../../knative/try/local/${name}.ts`, import.meta.url));
  test('a usage error exits 2 with what is wrong and a usage line', () => {
    const { status, stderr } = spawnSync(process.execPath, [main, '--fast'], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toMatch(/--fast.*\n(.*\n)*usage: npm /);
  });
});
