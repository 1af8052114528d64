// Metrics of an EtcdCluster: its voters, its quorum, and the end of its certificates.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import { EtcdClusterGauges } from '../../../functions/etcd-cluster/gauges.ts';
import { shownOf } from '../../../functions/etcd-cluster/shown.ts';
import { recordsOf } from '../../../functions/etcd-cluster/state.ts';
import { statusUpdateOf } from '../../../functions/etcd-cluster/status.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { Metrics } from '../../../shared/function/metrics.ts';
import { shownMetrics } from '../../builders/shown-metrics.ts';
import { NAME, NAMESPACE } from './model/etcd-model.ts';
import { keepDown } from './model/faults.ts';
import { Run } from './model/run.ts';
import { type Differences, NOW_MS, state } from './samples.ts';

const BEGIN = 'ballast_etcd_cluster_';
const LOST = 'quorum_lost_since_timestamp_seconds shop/etcd';
const END = 'certificate_end_timestamp_seconds shop/etcd';

function shown(differences: Differences): Readonly<Record<string, number>> {
  const metrics = new Metrics();
  const one = state(differences);
  const decision = decide(one);
  const { conditions } = statusUpdateOf(one, decision, recordsOf(one), new Map());
  const seen = { nowMs: NOW_MS, decision, conditions };
  new EtcdClusterGauges(metrics).show(one.cluster, seen, shownOf(one, seen));
  return shownMetrics(metrics, BEGIN);
}

/** The first so many members answer. */
const answering =
  (count: number): NonNullable<Differences['etcd']> =>
  (etcd) => ({ ...etcd, answers: new Map([...etcd.answers].slice(0, count)) });

test('of one at rest they show that all is there', () => {
  expect(shown({})).toMatchObject({
    'voters_healthy shop/etcd': 3,
    'voters_wanted shop/etcd': 3,
    'not_ready_since_timestamp_seconds shop/etcd': 0,
    [LOST]: 0,
  });
  expect(shown({})).not.toHaveProperty([END]);
});

test('members that are away are counted, and a lost quorum has a time', () => {
  expect(shown({ etcd: answering(2) })).toMatchObject({ 'voters_healthy shop/etcd': 2, [LOST]: 0 });
  expect(shown({ etcd: answering(1) })).toMatchObject({
    'voters_healthy shop/etcd': 1,
    [LOST]: NOW_MS / 1_000,
  });
});

test('an etcd of which no member answers any more goes on having lost its quorum', async () => {
  const run = new Run();
  await run.converge();
  for (const name of ['etcd-0', 'etcd-1', 'etcd-2']) keepDown(run.model, name);
  await run.idle(3);
  expect(shownMetrics(run.metrics, BEGIN)[LOST]).toBeGreaterThan(0);
  run.model.nowMs += 600_000;
  await run.idle(3);
  expect(run.condition('Quorate')).toMatchObject({ status: 'Unknown', reason: 'NoContact' });
  expect(shownMetrics(run.metrics, BEGIN)[LOST]).toBeGreaterThan(0);
});

test('each sweep shows what it saw, and forgets a cluster that is gone', async () => {
  const run = new Run();
  run.edit({ tls: { clients: { mode: 'Mutual' }, peers: { mode: 'None' } } });
  await run.converge();
  const all = shownMetrics(run.metrics, BEGIN);
  expect(all).toMatchObject({ 'voters_healthy shop/etcd': 3, [LOST]: 0 });
  // Certificates are made for months.
  expect(all[END]).toBeGreaterThan(run.model.nowMs / 1_000 + 30 * 86_400);
  run.model.kube.remove(ETCD_CLUSTERS, { namespace: NAMESPACE, name: NAME });
  await run.sweep();
  expect(shownMetrics(run.metrics, BEGIN)).toEqual({});
});
