// A supervised part comes back by itself; an unsupervised one stays dead until somebody starts it.
import { expect, test } from 'vitest';
import {
  type PartChange,
  PartProcess,
  type PartSpec,
} from '../../../knative/try/local/process/part.ts';
import { Supervisor } from '../../../knative/try/local/process/supervisor.ts';

const spec: PartSpec = {
  name: 'sample',
  command: process.execPath,
  args: ['-e', 'setInterval(() => {}, 1000)'],
  env: {},
  url: '',
  ready: async () => true,
};

const supervise = (policy: 'never' | 'backoff') => {
  const states: string[] = [];
  const supervisor = new Supervisor(policy, ({ state }: PartChange) => states.push(state));
  const part = new PartProcess(spec, 'BALLAST_PLANE=/nowhere', supervisor.onChange);
  return { states, supervisor, part };
};

test('a part that died comes back under a new pid', async () => {
  const { part, states, supervisor } = supervise('backoff');
  await part.start();
  const before = part.pid ?? 0;
  process.kill(before, 'SIGKILL');
  await expect
    .poll(() => states, { timeout: 5_000 })
    .toEqual(['starting', 'ready', 'dead', 'starting', 'ready']);
  expect(part.pid).not.toBe(before);
  supervisor.close();
  await part.stop();
});

test('a part that somebody stopped stays stopped', async () => {
  const { part, states, supervisor } = supervise('backoff');
  await part.start();
  await part.stop();
  supervisor.close();
  expect(states).toEqual(['starting', 'ready', 'stopped']);
});

test('without a policy a dead part stays dead', async () => {
  const { part, states, supervisor } = supervise('never');
  await part.start();
  process.kill(part.pid ?? 0, 'SIGKILL');
  await expect.poll(() => part.state).toBe('dead');
  supervisor.close();
  expect(states).toEqual(['starting', 'ready', 'dead']);
});
