// The memory kept of a cluster between observations stays small, whatever its servers say and
// whatever others write into its parts.
import { serialize } from 'node:v8';
import { expect, test } from 'vitest';
import { type Cluster, clusterOf } from '../../../functions/nats-cluster/cluster.ts';
import { Deps } from '../../../functions/nats-cluster/deps.ts';
import { observe } from '../../../functions/nats-cluster/observe.ts';
import { HASH_ANNOTATION, SECRETS } from '../../../shared/stateful/parts.ts';
import { Run } from './model/run.ts';
import { systemOf } from './model/system-model.ts';

function depsOf({ model }: Run): Deps {
  const clock = { nowMs: () => model.nowMs, sleep: async () => undefined };
  const openSystem = async () => systemOf(model);
  const lease = { namespace: 'n', name: 'unused', sweepSeconds: 60 };
  return new Deps({ kube: model.kube.client, openSystem, clock, workMs: 5_000, lease });
}

function clusterIn({ model }: Run): Cluster {
  const object = model.kube.objects.get('natsclusters/shop/nats');
  if (object === undefined) throw new Error('the NatsCluster is gone');
  return clusterOf(object);
}

const { signal } = new AbortController();
const MEGABYTE = 1_000_000;

test('servers that answer by another name each time are not remembered without end', async () => {
  const run = new Run();
  await run.converge();
  const { model } = run;
  const cluster = clusterIn(run);
  const deps = depsOf(run);
  const [own] = model.servers.values();
  if (own === undefined) throw new Error('nobody runs');
  for (let round = 0; round < 20; round += 1) {
    model.servers.set('stranger', { ...own, name: `stranger-${round}` });
    await observe(deps, cluster, signal);
  }
  const { contactMs } = deps.memoryOf(cluster.uid);
  expect([...contactMs.keys()].toSorted()).toEqual(['nats-0', 'nats-1', 'nats-2']);
});

test('a megabyte that others write into each part is not remembered with it', async () => {
  const run = new Run();
  run.edit({ tls: { clients: {} } });
  await run.converge();
  const before = depsOf(run);
  await observe(before, clusterIn(run), signal);
  const { kube } = run.model;
  const text = 'x'.repeat(MEGABYTE);
  for (const [key, { metadata }] of kube.objects) {
    const { annotations, namespace = '', name } = metadata;
    const [resource = ''] = key.split('/');
    if (resource === 'natsclusters' || annotations?.[HASH_ANNOTATION] === undefined) continue;
    const much = { metadata: { annotations: { text } }, data: { text } };
    kube.change({ group: '', version: 'v1', resource }, { namespace, name }, much);
  }
  const deps = depsOf(run);
  const { state } = await observe(deps, clusterIn(run), signal);
  expect(state.parts.found.size).toBe(6);
  const [now, then] = [deps, before].map((one) => serialize(one.memoryOf(clusterIn(run).uid)));
  expect(now?.byteLength).toBe(then?.byteLength);
});

test('clusters with much to remember cost those with little none of their memory', async () => {
  const run = new Run();
  await run.converge();
  const deps = depsOf(run);
  const { parts } = (await observe(deps, clusterIn(run), signal)).state;
  const sizes = Array.from({ length: 40 }, (_, index) => {
    const one = { ...clusterIn(run), uid: `large-${index}` };
    deps.remember(one, { ...parts, trustedCa: String(index).repeat(MEGABYTE) });
    return deps.memoryOf(one.uid).bytes ?? 0;
  });
  const left = sizes.map((_, index) => deps.memoryOf(`large-${index}`));
  const bytes = left.reduce((sum, one) => sum + (one.bytes ?? 0), 0);
  expect(bytes).toBeLessThan(24 * 2 ** 20);
  expect(left.filter((one) => one.parts !== undefined).length).toBeGreaterThan(8);
  expect(deps.memoryOf(clusterIn(run).uid).parts?.value).toBe(parts);
});

test('of many users some Secrets are compared at each look, and each of them soon', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `u${index}`);
  const run = new Run();
  run.edit({ accounts: [{ name: 'A', jetStream: true, users: names.map((name) => ({ name })) }] });
  await run.converge();
  const { kube } = run.model;
  const readsOfLook = async (): Promise<number> => {
    run.model.nowMs += 60_000;
    const before = kube.reads;
    await run.sweep();
    return kube.reads - before;
  };
  // The list of clusters, its pods, two Secrets of its own, and eight of users.
  expect(await readsOfLook()).toBe(12);
  for (const name of ['u0', 'u10', 'u19']) {
    kube.remove(SECRETS, { namespace: 'shop', name: `nats-user-${name}` });
    for (let looks = 0; looks < 3; looks += 1) await readsOfLook();
    expect(kube.objects.has(`secrets/shop/nats-user-${name}`)).toBe(true);
  }
});
