import { expect, test } from 'vitest';
import { UsageError, startOptions } from '../../../knative/local/start-options.ts';

test('without arguments a small living cluster is asked for, and nothing is kept', () => {
  expect(startOptions([])).toEqual({
    nodes: 20,
    pods: 300,
    churnPerSecond: 2,
    dataDir: undefined,
    isPlain: false,
    apiPort: undefined,
    natsPort: undefined,
  });
});

test('every option is taken', () => {
  const args = '--nodes 3 --pods=0 --churn 0 --plain --api-port 6443 --nats-port 4222'.split(' ');
  expect(startOptions(args)).toEqual({
    nodes: 3,
    pods: 0,
    churnPerSecond: 0,
    dataDir: undefined,
    isPlain: true,
    apiPort: 6443,
    natsPort: 4222,
  });
  expect(startOptions(['--keep'])?.dataDir).toMatch(/\.ballast\/data$/);
});

test.each([['-h'], ['--help'], ['--nodes', '3', '--help']])('%j %j asks for help', (...args) => {
  expect(startOptions(args)).toBeUndefined();
});

test.each([
  [['--nodes', 'many'], '--nodes wants a whole number from 0 to 5000, not "many"'],
  [['--nodes', '1e3'], '--nodes wants'],
  [['--nodes', '-1'], '--nodes'],
  [['--pods', '50001'], '--pods wants a whole number from 0 to 50000'],
  [['--churn', '0.5'], '--churn wants'],
  [['--api-port', '0'], '--api-port wants a whole number from 1 to 65535'],
  [['--nats-port', '65536'], '--nats-port wants'],
  [['--nodes'], '--nodes'],
  [['--fast'], '--fast'],
  [['plane'], 'plane'],
])('%j is refused by name', (args, message) => {
  expect(() => startOptions(args)).toThrow(UsageError);
  expect(() => startOptions(args)).toThrow(message);
});
