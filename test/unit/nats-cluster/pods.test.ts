// The reason why a pod does not run reaches the status of the NatsCluster: its name at once, a call
// for help after two minutes, and each sentence in one place alone.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/nats-cluster/decide.ts';
import { statusUpdateOf } from '../../../functions/nats-cluster/status.ts';
import { recordsOf } from '../../../functions/nats-cluster/state.ts';
import { PODS } from '../../../shared/stateful/parts.ts';
import { NOW_MS } from '../stateful/samples.ts';
import { Run } from './model/run.ts';
import { NAMESPACE } from './model/cluster-model.ts';
import { type Differences, outdated, state } from './samples.ts';

const waiting = (reason: string, message: string) => ({
  containerStatuses: [{ state: { waiting: { reason, message } } }],
});

const stuck =
  (unreadySince: string): NonNullable<Differences['pods']> =>
  (pods) =>
    outdated('nats-2')(pods).map((one) =>
      one.name === 'nats-1' ? { ...one, isReady: false, trouble: PULL, unreadySince } : one,
    );
const PULL = { reason: 'ImagePullBackOff', message: 'ErrImagePull: no such image' };
const restarting = {
  server: 'nats-1',
  podUid: 'gone',
  reason: 'Its pod template is another one now.',
  since: '2026-01-01T23:55:00Z',
};

function conditionsOf(differences: Differences) {
  const one = state({ nowMs: NOW_MS, ...differences });
  const { status, conditions } = statusUpdateOf(one, decide(one), recordsOf(one), new Map());
  const said = (type: string) => conditions.find((condition) => condition.type === type);
  return { plan: status.plan, all: conditions, said };
}

test.each<[string, Differences]>([
  ['of a rollout', { pods: stuck('2026-01-01T23:59:30Z'), status: { restarting } }],
  ['of a new cluster', { pods: stuck('2026-01-01T23:59:30Z'), status: { servers: [] } }],
])('what the pod %s says stands in Ready at once, and Degraded waits', (_, differences) => {
  const { said } = conditionsOf(differences);
  expect(said('Ready')).toMatchObject({ status: 'False', reason: 'ImagePullBackOff' });
  expect(said('Ready')?.message).toContain('nats-1 does not run: ErrImagePull: no such image');
  expect(said('Degraded')?.status).toBe('False');
});

test.each<[string, Differences]>([
  ['of a rollout', { pods: stuck('2026-01-01T23:57:59Z'), status: { restarting } }],
  ['of a new cluster', { pods: stuck('2026-01-01T23:57:59Z'), status: { servers: [] } }],
])('after two minutes the pod %s needs a person', (_, differences) => {
  const { said } = conditionsOf(differences);
  expect(said('Degraded')).toMatchObject({ status: 'True', reason: 'ImagePullBackOff' });
});

test.each<[string, Differences]>([
  ['a refusal', { spec: { image: 'nats:2.13.1' } }],
  ['a refused reload', { refusals: new Map([['nats-1', `Parse error ${'x'.repeat(900)}; see.`]]) }],
])('the sentence of %s stands whole in one condition, and not in the plan', (_, differences) => {
  const nats: Differences['nats'] = (seen) => ({
    ...seen,
    servers: new Map([...seen.servers].map(([name, one]) => [name, { ...one, digest: 'old' }])),
  });
  const { all, plan, said } = conditionsOf({ nats, ...differences });
  const message = said('Degraded')?.message ?? '';
  expect(message).not.toBe('');
  const elsewhere = [...all.filter(({ type }) => type !== 'Degraded'), { message: plan?.waitsFor }];
  expect(elsewhere.filter((one) => one.message?.includes(message))).toEqual([]);
});

test('a downgrade, and what the API server refuses, are told by an Event each, once', async () => {
  const run = new Run();
  await run.converge();
  run.edit({ image: 'nats:2.12.0' });
  for (let sweeps = 0; sweeps < 3; sweeps += 1) await run.sweep();
  expect(run.warnings).toEqual(['DowngradeRefused']);
  run.edit({ image: 'nats:2.15.2' });
  run.model.kube.refuses = (resource) => resource === 'statefulsets';
  for (let sweeps = 0; sweeps < 3; sweeps += 1) await run.sweep();
  expect(run.warnings).toEqual(['DowngradeRefused', 'ApiServerRefused']);
});

test('a pod that cannot pull its image is told in the status and by an Event', async () => {
  const run = new Run();
  await run.converge();
  run.model.stopServer('nats-2');
  run.model.hasVolume = (server) => server !== 'nats-2';
  const conditions = [{ type: 'Ready', status: 'False' }];
  const status = { conditions, ...waiting('ErrImagePull', 'no such image') };
  run.model.kube.change(PODS, { namespace: NAMESPACE, name: 'nats-2' }, { status });
  await run.sweep();
  expect(run.condition('Ready').reason).toBe('ImagePullBackOff');
  expect(run.warnings).toContain('ImagePullBackOff');
});
