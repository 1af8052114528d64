// What is remembered of a cluster between looks, when its servers say whatever they like.
import { expect, test } from 'vitest';
import { clusterOf } from '../../../functions/nats-cluster/cluster.ts';
import { Deps } from '../../../functions/nats-cluster/deps.ts';
import { observe } from '../../../functions/nats-cluster/observe.ts';
import { Run } from './model/run.ts';
import { systemOf } from './model/system-model.ts';

test('servers that answer by another name each time are not remembered without end', async () => {
  const run = new Run();
  await run.converge();
  const { model } = run;
  const object = model.kube.objects.get('natsclusters/shop/nats');
  if (object === undefined) throw new Error('the NatsCluster is gone');
  const cluster = clusterOf(object);
  const clock = { nowMs: () => model.nowMs, sleep: async () => undefined };
  const openSystem = async () => systemOf(model);
  const lease = { namespace: 'n', name: 'unused', sweepSeconds: 60 };
  const deps = new Deps({ kube: model.kube.client, openSystem, clock, workMs: 5_000, lease });
  const [own] = model.servers.values();
  if (own === undefined) throw new Error('nobody runs');
  for (let look = 0; look < 20; look += 1) {
    model.servers.set('stranger', { ...own, name: `stranger-${look}` });
    await observe(deps, cluster, new AbortController().signal);
  }
  const { contactMs } = deps.memoryOf(cluster.uid);
  expect([...contactMs.keys()].toSorted()).toEqual(['nats-0', 'nats-1', 'nats-2']);
});
