// The reads of a cluster at rest by both functions, how soon a change that no event told is seen
// all the same, and that no step rests on what was read a while ago.
import { expect, test } from 'vitest';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { CLUSTER_ID_ANNOTATION } from '../../../shared/api/etcd-peer.ts';
import { CLAIMS, PODS, SECRETS } from '../../../shared/stateful/parts.ts';
import { NAME, NAMESPACE } from './model/etcd-model.ts';
import { type Edit, Run } from './model/run.ts';

const SERVICES = { group: '', version: 'v1', resource: 'services' };
/** 619 as it is written; each look before the birth once asked for 32 names besides. */
const BIRTH_READS_MAX = 680;
const MINUTE_MS = 60_000;
const CLAIM = { namespace: NAMESPACE, name: 'data-etcd-1' };
const POD = { namespace: NAMESPACE, name: 'etcd-1-0' };
const AT = { namespace: NAMESPACE, name: NAME };

/** Looked at until all is remembered. */
async function atRest(spec: Edit = {}): Promise<Run> {
  const run = new Run();
  run.edit(spec);
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

const TLS = { tls: { clients: { mode: 'Mutual' }, peers: { mode: 'Mutual' } } };

test('a look that reads all anew reads each Secret and each other part once', async () => {
  const run = await atRest(TLS);
  run.model.nowMs += 5 * MINUTE_MS;
  const lists = ['etcdclusters', 'etcdpeers', 'pods', 'claims', 'schedules'];
  const secrets = ['tls', 'client', 'clients-ca', 'peers-ca', 'root', 'starts'];
  const others = ['headless', 'service', 'budget', 'networkPolicy'];
  const expected = lists.length + secrets.length + others.length;
  expect(await readsIn(run, () => run.sweep())).toBe(expected);
});

test('a birth with certificates costs no more reads than it has to', async () => {
  const run = new Run();
  run.edit(TLS);
  expect(await readsIn(run, () => run.converge())).toBeLessThan(BIRTH_READS_MAX);
});

test('a Secret that somebody edited is seen by the next look', async () => {
  const run = await atRest(TLS);
  const at = { namespace: NAMESPACE, name: `${NAME}-client` };
  run.model.kube.change(SECRETS, at, { data: { endpoints: 'ZWxzZXdoZXJl' } });
  expect(await looked(run)).toEqual([`apply secrets ${NAME}-client`]);
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
