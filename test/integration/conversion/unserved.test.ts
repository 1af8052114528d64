// v1alpha1 is served no more, and the functions are written in it: by the client's own door they
// read and write every kind as before, and keep their objects, under their own accounts.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { etcdClusterRights } from '../../../knative/tools/rights/etcd-cluster.ts';
import { etcdPeerRights } from '../../../knative/tools/rights/etcd-peer.ts';
import { natsClusterRights } from '../../../knative/tools/rights/manifests.ts';
import { SWEEP } from '../../../shared/function/sources.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { openKube } from '../../../shared/kube/client.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { writeStatus } from '../../../shared/kube/status.ts';
import { STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { letNobodyWritePeers, letPeersBeWritten } from '../../builders/peer-writers.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { until } from '../../builders/versioned-kind.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { WHOLE_KINDS } from '../api/whole.ts';
import { alpha, beta, ConversionRig } from './rig.ts';

const STEP_MS = 240_000;
const namespace = 'shop';
const fieldManager = 'test';

interface Place {
  readonly resource: string;
  readonly kind: string;
  readonly target: { readonly name: string; readonly namespace?: string };
}

let rig: ConversionRig;
let running: readonly RunningFunction[] = [];
/** As they were read and written while v1alpha1 was served, by their places. */
const before = new Map<Place, KubeObject>();

beforeAll(async () => {
  rig = await ConversionRig.start(sharedPlane());
  const { kube } = rig;
  await letPeersBeWritten(kube);
  for (const { kind, path, specs, status } of WHOLE_KINDS) {
    const [, space, resource = ''] =
      /v1alpha1(?:\/namespaces\/([^/]+))?\/([^/]+)$/.exec(path) ?? [];
    for (const [name, spec] of Object.entries(specs)) {
      const target = { name, ...(space === undefined ? {} : { namespace: space }) };
      const type = { apiVersion: 'ballast.dev/v1alpha1', kind };
      const object = await kube.apply(alpha(resource), { ...type, metadata: target, spec }, by);
      await writeStatus(kube, { ref: alpha(resource), object, status: said(status), fieldManager });
      before.set({ resource, kind, target }, await read({ resource, kind, target }));
    }
  }
  await letNobodyWritePeers(kube);
  await rig.applyStep('2-stored');
  await rig.whenConverting();
  await rig.applyStep('4-unserved');
  await rig.whenConverting();
  for (const resource of new Set([...before.keys()].map((place) => place.resource))) {
    await rig.whenAway(resource);
  }
}, STEP_MS);

afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()));
  await rig?.stop();
});

const by = { force: true, fieldManager } as const;
const said = (status: object): Readonly<Record<string, unknown>> => ({ ...status });

async function read({ resource, target }: Place): Promise<KubeObject> {
  const object = await rig.kube.get(alpha(resource), target);
  if (object === null) throw new Error(`${resource} ${target.name} is gone`);
  return object;
}

const words = ({ apiVersion, kind, metadata, ...rest }: KubeObject): object => ({
  apiVersion,
  kind,
  uid: metadata.uid,
  ...rest,
});

test('each object is read as before, alone and in lists', async () => {
  expect(new Set([...before.keys()].map(({ kind }) => kind)).size).toBe(WHOLE_KINDS.length);
  for (const [place, object] of before) {
    expect(words(await read(place))).toEqual(words(object));
    const { items } = await rig.kube.list(alpha(place.resource), { limit: 100 });
    const listed = items.find(({ metadata }) => metadata.uid === object.metadata.uid);
    expect(listed && words(listed)).toEqual(words(object));
  }
});

test('a status that stands there is not written again, once it was', async () => {
  for (const [place, object] of before) {
    const ref = alpha(place.resource);
    const status = said(object['status'] as object);
    const how = { ref, status, fieldManager };
    const written = await writeStatus(rig.kube, { ...how, object: await read(place) });
    expect(words(written.object)).toEqual(words(object));
    expect(await writeStatus(rig.kube, { ...how, object: await read(place) })).toMatchObject({
      isChanged: false,
      object: { metadata: { resourceVersion: written.object.metadata.resourceVersion } },
    });
  }
});

test('what is made, applied, patched and deleted is what was meant', async () => {
  const { kube } = rig;
  const at = { name: 'made', namespace: 'default' };
  const type = { apiVersion: 'ballast.dev/v1alpha1', kind: 'EtcdCluster' };
  const spec = { compaction: { mode: 'Periodic', retention: '60m' } };
  const made = await kube.create(alpha('etcdclusters'), { ...type, metadata: at, spec });
  expect(made).toMatchObject({ isNew: true, object: { ...type, spec } });
  const inBeta = await kube.get(beta('etcdclusters'), at);
  expect(inBeta?.['spec']).toMatchObject({
    compaction: { mode: 'Periodic', retentionSeconds: 3_600 },
  });
  expect((await kube.get(alpha('etcdclusters'), at))?.['spec']).toMatchObject(spec);
  const compaction = { mode: 'Periodic', retention: '2h' };
  const applied = { ...type, metadata: at, spec: { compaction } };
  expect(await kube.apply(alpha('etcdclusters'), applied, by)).toMatchObject({
    spec: { compaction },
  });
  const patch = (body: Readonly<Record<string, unknown>>): Promise<KubeObject> =>
    kube.patch(alpha('etcdclusters'), at, { type: 'merge', body }, {});
  const patched = await patch({ metadata: { labels: { a: 'b' } }, spec: { paused: true } });
  const { metadata } = patched;
  expect(patched).toMatchObject({
    metadata: { labels: { a: 'b' } },
    spec: { paused: true, compaction },
  });
  await expect(patch({ spec: { compaction: { retention: '3h' } } })).rejects.toThrow(
    'apply the whole record instead',
  );
  const { uid } = metadata;
  expect(await kube.delete(alpha('etcdclusters'), at, { uid })).toBe('gone');
  expect(await kube.get(alpha('etcdclusters'), at)).toBeNull();
});

test('a change is watched in the words of who watches', async () => {
  const { kube } = rig;
  const ref = alpha('storagemigrations');
  const made = await kube.list(ref, { limit: 1 });
  const name = made.items[0]?.metadata.name ?? '';
  const from = { resourceVersion: made.metadata.resourceVersion };
  const body = { metadata: { labels: { seen: 'yes' } }, spec: { pause: true } };
  await kube.patch(ref, { name }, { type: 'merge', body }, {});
  const { signal } = new AbortController();
  for await (const event of kube.watch(ref, { from, timeoutSeconds: 60, signal })) {
    const object = { ...body, apiVersion: 'ballast.dev/v1alpha1' };
    expect(event).toMatchObject({ type: 'MODIFIED', object });
    break;
  }
  expect.assertions(1);
});

test(
  'the functions make what an object asks for, and say so in its status',
  async () => {
    const { kube } = rig;
    const core = { group: '', version: 'v1', resource: 'namespaces' };
    await kube.create(core, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const rights = [natsClusterRights, etcdClusterRights, etcdPeerRights];
    const objects = rights.flatMap((of) => of(namespace));
    await applyObjects(
      kube,
      objects.map((object) => ({ file: 'npm run rights', object })),
    );
    const apiVersion = 'ballast.dev/v1beta1';
    const spec = { compaction: { mode: 'Periodic', retentionSeconds: 3_600 } };
    const main = { apiVersion, kind: 'EtcdCluster', metadata: { namespace, name: 'main' }, spec };
    await kube.create(beta('etcdclusters'), main);
    const nats = { apiVersion, kind: 'NatsCluster', metadata: { namespace, name: 'nats' } };
    await kube.create(beta('natsclusters'), { ...nats, spec: {} });
    running = await rig.startKeepers();
    await until(
      'their StatefulSets',
      async () => {
        await Promise.all(running.map(({ port }) => sendEvent(port, SWEEP, {})));
        const { items } = await kube.list(STATEFUL_SETS, { namespace });
        const owners = items.flatMap(({ metadata }) => metadata.ownerReferences ?? []);
        expect(new Set(owners.map((owner) => owner.apiVersion)).size).toBeLessThan(2);
        return ['NatsCluster', 'EtcdPeer'].every((kind) => owners.some((one) => one.kind === kind));
      },
      STEP_MS,
    );
    const [peer] = (await kube.list(beta('etcdpeers'), { namespace })).items;
    expect(peer).toMatchObject({
      metadata: { ownerReferences: [{ apiVersion, kind: 'EtcdCluster', name: 'main' }] },
      spec: {
        etcdCluster: { name: 'main' },
        compaction: { mode: 'Periodic', retentionSeconds: 3_600 },
      },
    });
    for (const resource of ['natsclusters', 'etcdclusters']) {
      const [own] = (await kube.list(beta(resource), { namespace })).items;
      expect(own?.['status']).toMatchObject({ observedGeneration: 1 });
    }
  },
  STEP_MS,
);

test('a definition of which objects are left is guarded, as the page says', async () => {
  const definition = { name: 'natsclusters.ballast.dev' };
  const because = 'it is not done';
  const remove = (): Promise<unknown> =>
    rig.kube.delete(CRDS, definition, { precondition: 'none', because }, { dryRun: true });
  await until('it to be guarded', () =>
    remove().then(
      () => false,
      () => true,
    ),
  );
  await expect(remove()).rejects.toThrow(`NatsCluster ${namespace}/nats is still there`);
  const guards = await rig.runAsWritten('kubectl get validatingadmissionpolicies');
  expect(guards.match(/^ballast-nats-cluster-guard.*/gm)?.map((line) => line.split(/ +/))).toEqual([
    ['ballast-nats-cluster-guard', 'ballast.dev/v1alpha1'],
    ['ballast-nats-cluster-guard-v1beta1', 'ballast.dev/v1beta1'],
  ]);
});

test('another client that begins in v1alpha1 again finds it where it is served', async () => {
  await rig.applyStep('3-deprecated');
  await rig.whenConverting();
  const { kubeconfigPath } = rig.plane;
  const fresh = openKube({ kubeconfigPath, userAgent: 'test', fieldManager });
  const path = '/apis/ballast.dev/v1alpha1/takeovers';
  const isServed = (): Promise<boolean> =>
    fresh.raw({ method: 'GET', path, repeat: 'always' }).then(
      () => true,
      () => false,
    );
  await until('v1alpha1 to be served', isServed);
  const [late, early] = await Promise.all(
    [fresh, rig.kube].map((kube) => kube.list(alpha('takeovers'))),
  );
  expect(late?.items.map(words)).toEqual(early?.items.map(words));
  expect(late?.items.map(({ apiVersion }) => apiVersion)).toContain('ballast.dev/v1alpha1');
  await fresh.close();
});
