// Metrics of a NatsCluster: its servers, its streams, and the end of its certificates.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/nats-cluster/decide.ts';
import { NatsClusterGauges } from '../../../functions/nats-cluster/gauges.ts';
import { shownOf } from '../../../functions/nats-cluster/shown.ts';
import { recordsOf } from '../../../functions/nats-cluster/state.ts';
import { statusUpdateOf } from '../../../functions/nats-cluster/status.ts';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { Metrics } from '../../../shared/function/metrics.ts';
import { shownMetrics } from '../../builders/shown-metrics.ts';
import { NOW_MS } from '../stateful/samples.ts';
import { NAME, NAMESPACE } from './model/cluster-model.ts';
import { Run } from './model/run.ts';
import { type Differences, peer, state, stream } from './samples.ts';

const BEGIN = 'ballast_nats_cluster_';

function shown(differences: Differences): Readonly<Record<string, number>> {
  const metrics = new Metrics();
  const one = state({ nowMs: NOW_MS, ...differences });
  const decision = decide(one);
  const { conditions } = statusUpdateOf(one, decision, recordsOf(one), new Map());
  const seen = { nowMs: NOW_MS, decision, conditions };
  new NatsClusterGauges(metrics).show(one.cluster, seen, shownOf(one));
  return shownMetrics(metrics, BEGIN);
}

test('of one at rest they show that all is there', () => {
  expect(shown({})).toMatchObject({
    'servers_ready shop/nats': 3,
    'servers_wanted shop/nats': 3,
    'streams_at_risk shop/nats': 0,
    'not_ready_since_timestamp_seconds shop/nats': 0,
    'degraded_since_timestamp_seconds shop/nats': 0,
  });
});

test('a server that is away, and a stream that is not whole, are counted', () => {
  const groups = [stream({ members: [peer('nats-0'), peer('nats-1'), peer('nats-2', false)] })];
  const all = shown({
    pods: (pods) => pods.filter(({ name }) => name !== 'nats-2'),
    nats: (nats) => ({ ...nats, groups }),
  });
  expect(all).toMatchObject({
    'servers_ready shop/nats': 2,
    'servers_wanted shop/nats': 3,
    'streams_at_risk shop/nats': 1,
    'not_ready_since_timestamp_seconds shop/nats': NOW_MS / 1_000,
  });
});

test('nothing is said of streams while no server answers, nor of certificates without any', () => {
  const silent = shown({ nats: (nats) => ({ ...nats, servers: new Map(), groups: [] }) });
  expect(silent).not.toHaveProperty(['streams_at_risk shop/nats']);
  expect(silent).not.toHaveProperty(['certificate_end_timestamp_seconds shop/nats']);
  expect(shown({ parts: { servedUntilMs: NOW_MS } })).toMatchObject({
    'certificate_end_timestamp_seconds shop/nats': NOW_MS / 1_000,
  });
});

test('each sweep shows what it saw, and forgets a cluster that is gone', async () => {
  const run = new Run();
  await run.converge();
  const all = shownMetrics(run.metrics, BEGIN);
  expect(all).toMatchObject({
    'servers_ready shop/nats': 3,
    'not_ready_since_timestamp_seconds shop/nats': 0,
  });
  run.model.kube.remove(NATS_CLUSTERS, { namespace: NAMESPACE, name: NAME });
  await run.sweep();
  expect(shownMetrics(run.metrics, BEGIN)).toEqual({});
});
