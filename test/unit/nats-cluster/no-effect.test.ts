// A step that comes to nothing is given up for a while and told.
import { expect, test } from 'vitest';
import { attemptOf } from '../../../functions/nats-cluster/attempts.ts';
import { holdBack } from '../../../shared/stateful/attempts.ts';
import { Run } from './model/run.ts';
import { state } from './samples.ts';

test('a step that changes nothing backs off and says so, and is tried again later', async () => {
  const run = new Run();
  await run.converge();
  const { kube } = run.model;
  const put = kube.put.bind(kube);
  // As a quantity that the API server keeps otherwise, or a webhook.
  kube.put = (ref, manifest) =>
    ref.resource === 'statefulsets'
      ? kube.change(ref, { namespace: 'shop', name: 'nats' }, {})
      : put(ref, manifest);
  run.edit({ image: 'nats:2.15.2' });
  const applied = () => run.writes.filter((one) => one === 'apply statefulsets nats').length;
  const before = applied();
  for (let sweeps = 0; sweeps < 10; sweeps += 1) await run.sweep();
  expect(applied() - before).toBe(3);
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason: 'NoEffect' });
  expect(run.condition('Degraded').message).toContain('Update StatefulSet nats: done 3 times');
  expect(run.warnings).toEqual(['NoEffect']);
  run.model.nowMs += 20_000;
  for (let sweeps = 0; sweeps < 10; sweeps += 1) await run.sweep();
  expect(applied() - before).toBe(4);
  kube.put = put;
  run.model.nowMs += 300_000;
  await run.converge();
  expect(run.condition('Degraded').status).toBe('False');
});

test('scaled up and down again and again, it is held back at no step', async () => {
  const run = new Run();
  await run.converge();
  for (let times = 0; times < 5; times += 1) {
    for (const replicas of [5, 3]) {
      run.edit({ replicas });
      await run.converge();
    }
  }
  expect(run.warnings).not.toContain('NoEffect');
});

test('a reload is asked for until the file is there, and then no more than each minute', () => {
  const attempts = new Map();
  const step = { type: 'reload', server: 'nats-1', id: 'ID' } as const;
  const at = (seconds: number) =>
    holdBack(attempts, attemptOf(step, 'Reload nats-1', state()), seconds * 1_000);
  const tries = Array.from({ length: 600 }, (_, seconds) => at(seconds)).filter(
    (one) => one === undefined,
  );
  // Three minutes long each second.
  expect(tries).toHaveLength(180 + 7);
  expect(at(600)?.reason).toBe('NoEffect');
});
