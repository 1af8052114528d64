// The writes of a peer in their order, on a model of the API server: from its first start to its
// end, and when its claim is lost or somebody is in the way.
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { Deps } from '../../../functions/etcd-peer/deps.ts';
import { reconciler } from '../../../functions/etcd-peer/reconciler.ts';
import { CLUSTER_ID_ANNOTATION, ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import type { Context, IncomingEvent } from '../../../shared/function/define.ts';
import { CLAIMS, PODS, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { NOW_MS, peer } from './samples.ts';

const namespace = 'shop';
const PEER = { namespace, name: 'main-1' };
const POD = { namespace, name: 'main-1-0' };
const CLAIM = { namespace, name: 'data-main-1' };
const STARTED = [
  'patch etcdpeers main-1',
  'create persistentvolumeclaims data-main-1',
  'apply etcdpeers/status main-1',
  'apply statefulsets main-1',
  'apply etcdpeers/status main-1',
];

let kube: KubeModel;
let deps: Deps;
let nowMs: number;

beforeEach(() => {
  nowMs = NOW_MS;
  kube = new KubeModel();
  kube.lingers = (resource) => resource === 'etcdpeers';
  put();
  deps = new Deps({
    kube: kube.client,
    clock: { nowMs: () => nowMs, sleep: async () => undefined },
    workMs: 10_000,
    lease: { namespace: 'ballast-system', name: 'ballast-etcd-peer', sweepSeconds: 60 },
  });
});

function put(): void {
  const { object } = peer({ finalizers: [], status: {} });
  const { apiVersion, kind, spec } = object as unknown as {
    apiVersion: string;
    kind: string;
    spec: object;
  };
  kube.put(ETCD_PEERS, { apiVersion, kind, metadata: { ...PEER, finalizers: [] }, spec });
}

const contextOf = () => ({
  deps,
  log: pino({ level: 'silent' }),
  signal: new AbortController().signal,
});

async function sweep(): Promise<readonly string[]> {
  const before = kube.writes.length;
  await reconciler.sweepAll(contextOf() as unknown as Context<Deps>);
  return kube.writes.slice(before).filter((one) => !one.startsWith('create events'));
}

const of = (ref: { readonly resource: string }, at: { readonly name: string }) =>
  kube.objects.get(`${ref.resource}/${namespace}/${at.name}`);
const statusOf = () =>
  (of(ETCD_PEERS, PEER)?.['status'] ?? {}) as { claimUid?: string; phase?: string };
const specOf = () => of(STATEFUL_SETS, PEER)?.['spec'] as { readonly replicas: number };

/** As the StatefulSet's controller does, and a kubelet. */
function startPod(isReady = true): void {
  const statefulSet = of(STATEFUL_SETS, PEER);
  const { template } = Object(statefulSet?.['spec']) as {
    readonly template: { readonly metadata: object; readonly spec: object };
  };
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: PEER.name, uid: 's1' };
  kube.put(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, ...POD, ownerReferences: [owner] },
    spec: template.spec,
  });
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  kube.change(PODS, POD, { status: { conditions } });
  kube.change(CLAIMS, CLAIM, { status: { phase: 'Bound' } });
}

async function started(): Promise<void> {
  await sweep();
  startPod();
  await sweep();
}

test('a new one is held first, and its claim is known before a pod can write to it', async () => {
  expect(await sweep()).toEqual(STARTED);
  expect(statusOf()).toMatchObject({ claimUid: of(CLAIMS, CLAIM)?.metadata.uid, phase: 'Pending' });
  startPod();
  expect(await sweep()).toEqual(['apply etcdpeers/status main-1']);
  expect(statusOf().phase).toBe('Running');
});

async function readsOfSweep(): Promise<number> {
  const before = kube.reads;
  expect(await sweep()).toEqual([]);
  return kube.reads - before;
}

test('one at rest is read, and not written', async () => {
  await started();
  // The list of peers, its claim, its StatefulSet and its pod.
  expect(await readsOfSweep()).toBe(4);
});

test('one at rest costs the list and its pod, and its other parts every five minutes', async () => {
  await started();
  await sweep();
  for (let minute = 1; minute < 5; minute += 1) {
    nowMs += 60_000;
    expect(await readsOfSweep()).toBe(2);
  }
  nowMs += 60_000;
  expect(await readsOfSweep()).toBe(4);
});

const change = (ref: { readonly kind: string }): Promise<unknown> => {
  const labels = { 'ballast.dev/etcd-peer': PEER.name };
  const data = { kind: ref.kind, metadata: { namespace, name: 'any', labels } };
  const event = { data } as unknown as IncomingEvent;
  return reconciler.takeChange(event, contextOf() as unknown as Context<Deps>);
};

test.each(['an event', 'five minutes', 'another pod'])(
  'a part of one at rest that somebody changed is found by %s',
  async (how) => {
    await started();
    await sweep();
    kube.change(STATEFUL_SETS, PEER, { spec: { replicas: 7 } });
    expect(await sweep()).toEqual([]);
    if (how === 'an event') await change({ kind: 'StatefulSet' });
    if (how === 'five minutes') nowMs += 300_000;
    if (how === 'another pod') kube.change(PODS, POD, { metadata: { labels: { any: 'thing' } } });
    await sweep();
    expect(specOf().replicas).toBe(1);
  },
);

test('a claim that went with its pod is missed at once, whatever is remembered of it', async () => {
  await started();
  await sweep();
  kube.remove(CLAIMS, CLAIM);
  kube.remove(PODS, POD);
  expect(await sweep()).toEqual(['patch statefulsets main-1', 'apply etcdpeers/status main-1']);
  expect([specOf().replicas, statusOf().phase]).toEqual([0, 'DataLost']);
});

test('wherever a process dies, the next one goes on with the same claim', async () => {
  for (let moment = 1; moment < STARTED.length; moment += 1) {
    for (const resource of [ETCD_PEERS, CLAIMS, PODS, STATEFUL_SETS]) {
      for (const { metadata } of kube.of(resource.resource).values()) {
        kube.remove(resource, { namespace, name: metadata.name });
      }
    }
    put();
    let left = moment;
    kube.refuses = () => false;
    kube.aroundWrite = () => {
      left -= 0.5;
      if (left < 0) throw new Error('dies');
    };
    await expect(sweep()).rejects.toThrow('dies');
    kube.aroundWrite = () => undefined;
    await sweep();
    expect(statusOf().claimUid).toBe(of(CLAIMS, CLAIM)?.metadata.uid);
    expect(specOf()).toMatchObject({ replicas: 1 });
  }
});

test.each(['gone', 'another one'])(
  'its claim is %s: its pod stops, and no claim is made',
  async (how) => {
    await started();
    kube.remove(CLAIMS, CLAIM);
    if (how === 'another one') {
      const { metadata } = peer().object;
      const labels = { 'ballast.dev/etcd-cluster': 'main', 'ballast.dev/etcd-peer': metadata.name };
      const spec = { resources: { requests: { storage: '10Gi' } } };
      const [apiVersion, kind] = ['v1', 'PersistentVolumeClaim'];
      kube.put(CLAIMS, { apiVersion, kind, metadata: { ...CLAIM, labels }, spec });
    }
    expect(await sweep()).toEqual(['patch statefulsets main-1', 'apply etcdpeers/status main-1']);
    expect([specOf().replicas, statusOf().phase]).toEqual([0, 'DataLost']);
    kube.change(ETCD_PEERS, PEER, { spec: { image: 'quay.io/coreos/etcd:v3.6.17' } });
    expect(await sweep()).toEqual(['apply etcdpeers/status main-1']);
    expect(specOf().replicas).toBe(0);
  },
);

test('a claim without its labels is still there', async () => {
  await started();
  kube.change(CLAIMS, CLAIM, { metadata: { labels: { 'ballast.dev/etcd-peer': '' } } });
  expect(await sweep()).toEqual([]);
});

test('the claim of a former peer is taken as it is, and starts no other cluster', async () => {
  await started();
  const uid = of(CLAIMS, CLAIM)?.metadata.uid;
  kube.change(CLAIMS, CLAIM, { metadata: { annotations: { [CLUSTER_ID_ANNOTATION]: 'cd' } } });
  for (const ref of [ETCD_PEERS, STATEFUL_SETS]) kube.remove(ref, PEER);
  kube.remove(PODS, POD);
  put();
  expect(await sweep()).not.toContain('create persistentvolumeclaims data-main-1');
  expect(statusOf().claimUid).toBe(uid);
  const text = JSON.stringify(specOf());
  expect(text).toContain('--initial-cluster-state=existing');
});

test('a member that is deleted takes no volume with it: nobody owns its claim', async () => {
  await started();
  await kube.delete(ETCD_PEERS, PEER, {});
  const written = await sweep();
  expect(written).toEqual(['delete statefulsets main-1', 'apply etcdpeers/status main-1']);
  expect(statusOf().phase).toBe('Ending');
  kube.change(PODS, POD, { metadata: { deletionTimestamp: '2026-01-02T00:00:00Z' } });
  expect(await sweep()).not.toContain('patch etcdpeers main-1');
  kube.remove(PODS, POD);
  expect(await sweep()).toContain('patch etcdpeers main-1');
  expect(of(ETCD_PEERS, PEER)?.metadata.finalizers).toEqual([]);
  expect(of(CLAIMS, CLAIM)?.metadata).toMatchObject({ name: CLAIM.name });
  expect(of(CLAIMS, CLAIM)?.metadata.ownerReferences).toBeUndefined();
});

test('nobody who deploys takes a claim for one of his', async () => {
  await started();
  const { labels = {} } = of(CLAIMS, CLAIM)?.metadata ?? {};
  expect(Object.keys(labels).toSorted()).toEqual([
    'app.kubernetes.io/managed-by',
    'app.kubernetes.io/name',
    'ballast.dev/etcd-cluster',
    'ballast.dev/etcd-peer',
  ]);
});

test('a StatefulSet that another instance made anew meanwhile is not deleted', async () => {
  await started();
  await kube.delete(ETCD_PEERS, PEER, {});
  kube.beforeDelete = (resource) => {
    if (resource !== 'statefulsets') return;
    const { apiVersion = '', kind = '', metadata } = of(STATEFUL_SETS, PEER) ?? {};
    kube.remove(STATEFUL_SETS, PEER);
    const { labels = {} } = metadata ?? {};
    kube.put(STATEFUL_SETS, { apiVersion, kind, metadata: { ...PEER, labels }, spec: {} });
  };
  expect(await sweep()).toEqual([]);
  expect(of(STATEFUL_SETS, PEER)).toBeDefined();
});

test('a refusal of the API server is told as it is, and waits for a person', async () => {
  kube.refuses = (resource) => resource === 'statefulsets';
  // From the fourth on the step is held back.
  for (let sweeps = 0; sweeps < 5; sweeps += 1) await sweep();
  const { conditions = [] } = Object(of(ETCD_PEERS, PEER)?.['status']) as {
    readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
  };
  expect(conditions.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
    'Ready ApiServerRefused',
    'Degraded ApiServerRefused',
  ]);
});
