// The reads of a cluster at rest by both functions, how soon a change that no event told is seen
// all the same, and that no step rests on what was read a while ago.
import { expect, test } from 'vitest';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { CLUSTER_ID_ANNOTATION } from '../../../shared/api/etcd-peer.ts';
import { CLAIMS, PODS } from '../../../shared/stateful/parts.ts';
import { NAME, NAMESPACE } from './model/etcd-model.ts';
import { Run } from './model/run.ts';

const SERVICES = { group: '', version: 'v1', resource: 'services' };
const MINUTE_MS = 60_000;
const CLAIM = { namespace: NAMESPACE, name: 'data-etcd-1' };
const POD = { namespace: NAMESPACE, name: 'etcd-1-0' };
const AT = { namespace: NAMESPACE, name: NAME };

/** Looked at until all is remembered. */
async function atRest(): Promise<Run> {
  const run = new Run();
  await run.converge();
  await run.idle(2);
  return run;
}

async function readsIn({ model }: Run, work: () => Promise<void>): Promise<number> {
  const before = model.kube.reads;
  await work();
  return model.kube.reads - before;
}

function unmark({ model }: Run): void {
  const annotations = { [CLUSTER_ID_ANNOTATION]: null };
  model.kube.change(CLAIMS, CLAIM, { metadata: { annotations } });
}

async function looked(run: Run): Promise<readonly string[]> {
  const before = run.writes.length;
  run.model.nowMs += MINUTE_MS;
  await run.sweep();
  return run.writes.slice(before);
}

test('a look reads clusters, peers, pods and Secrets, and of each peer its pod', async () => {
  const run = await atRest();
  // Without TLS there is one Secret, for clients.
  expect(await readsIn(run, () => run.sweep())).toBe(3 + 1);
  expect(await readsIn(run, () => run.sweepPeers())).toBe(1 + 3);
});

test('a claim whose mark somebody took off is marked again within five minutes', async () => {
  const run = await atRest();
  unmark(run);
  expect(await looked(run)).toEqual([]);
  const writes: string[] = [];
  for (let minute = 0; minute < 4; minute += 1) writes.push(...(await looked(run)));
  expect(writes).toEqual(['patch persistentvolumeclaims data-etcd-1']);
});

test('it is seen at once when a pod moves, too', async () => {
  const run = await atRest();
  unmark(run);
  run.model.kube.change(PODS, POD, { metadata: { labels: { any: 'thing' } } });
  expect(await looked(run)).toEqual(['patch persistentvolumeclaims data-etcd-1']);
});

test('an edit since the list is what a step goes by', async () => {
  const run = await atRest();
  const { kube } = run.model;
  // All parts are read anew.
  run.model.nowMs += 5 * MINUTE_MS;
  kube.change(ETCD_CLUSTERS, AT, { spec: { paused: true } });
  kube.change(SERVICES, AT, { spec: { ports: [] } });
  const ages = [2];
  kube.staleness = () => ages.shift() ?? 0;
  expect(await looked(run)).toEqual(['apply etcdclusters/status etcd']);
  kube.change(ETCD_CLUSTERS, AT, { spec: { paused: false } });
  expect(await looked(run)).toContain('apply services etcd');
});
