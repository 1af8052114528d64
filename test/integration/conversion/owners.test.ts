// Owner references through the steps of the timeline, on the real API server: each function brings
// those of its parts to the version that is stored, there and back, with the rights of its account.
// Then v1alpha1 goes, and Kubernetes' own garbage collector is the judge.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcdBackup } from '../../../functions/etcd-backup/index.ts';
import { FIELD_MANAGER } from '../../../functions/nats-cluster/field-manager.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { controllerManagerSpec } from '../../../knative/try/local/plane/kube-controller-manager.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { etcdClusterRights } from '../../../knative/tools/rights/etcd-cluster.ts';
import { etcdPeerRights } from '../../../knative/tools/rights/etcd-peer.ts';
import { natsClusterRights } from '../../../knative/tools/rights/manifests.ts';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { SWEEP } from '../../../shared/function/sources.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { JOBS } from '../../../shared/jobs/observe.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import {
  BUDGETS,
  NETWORK_POLICIES,
  SECRETS,
  SERVICES,
  STATEFUL_SETS,
} from '../../../shared/stateful/parts.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { until } from '../../builders/versioned-kind.ts';
import { startOwnPart } from '../../lanes/own-part.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { beta, ConversionRig } from './rig.ts';

const namespace = 'shop';
const NATS = { namespace, name: 'nats' };
const STEP_MS = 240_000;
const PARTS = [SECRETS, SERVICES, BUDGETS, NETWORK_POLICIES, STATEFUL_SETS, ETCD_PEERS];
const OWNERS = ['EtcdCluster main', 'EtcdPeer main', 'NatsCluster nats', 'NatsCluster stuck'];
/** Kinds of owners. */
const OWNING = ['natsclusters', 'etcdclusters', 'etcdpeers', 'etcdbackups'];
/** Looks of those that have what they want. */
const LOOKS = 3;

let rig: ConversionRig;
let running: readonly RunningFunction[] = [];

beforeAll(async () => {
  rig = await ConversionRig.start(sharedPlane());
  const { kube } = rig;
  const metadata = { name: namespace };
  const core = { group: '', version: 'v1', resource: 'namespaces' };
  await kube.create(core, { apiVersion: 'v1', kind: 'Namespace', metadata });
  const rights = [natsClusterRights, etcdClusterRights, etcdPeerRights, etcdBackupRights];
  await applyObjects(
    kube,
    rights.flatMap((of) => of(namespace)).map((object) => ({ file: 'npm run rights', object })),
  );
  const apiVersion = 'ballast.dev/v1alpha1';
  const at = (name: string) => ({ metadata: { namespace, name }, spec: {} });
  await kube.create(NATS_CLUSTERS, { apiVersion, kind: 'NatsCluster', ...at('nats') });
  // Its StatefulSet is refused, for good: each look at it ends with that.
  const resources = { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } };
  const stuck = { ...at('stuck'), spec: { resources } };
  await kube.create(NATS_CLUSTERS, { apiVersion, kind: 'NatsCluster', ...stuck });
  await kube.create(ETCD_CLUSTERS, { apiVersion, kind: 'EtcdCluster', ...at('main') });
}, STEP_MS);

afterAll(async () => {
  await sleep();
  await rig?.stop();
});

/** As Knative lets them when nothing comes: what they know is gone. */
async function sleep(): Promise<void> {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
}

async function wake(): Promise<void> {
  await sleep();
  running = await rig.startKeepers();
}

async function sweep(): Promise<void> {
  const answers = await Promise.all(running.map(({ port }) => sendEvent(port, SWEEP, {})));
  expect(answers.map(({ ok }) => ok)).not.toContain(false);
}

async function parts(): Promise<readonly KubeObject[]> {
  const lists = await Promise.all(PARTS.map((ref) => rig.kube.list(ref, { namespace })));
  return lists
    .flatMap(({ items }) => items)
    .filter(({ metadata }) => ownersOf(metadata).length > 0);
}

const ownersOf = ({ ownerReferences = [] }: KubeObject['metadata']) =>
  ownerReferences.filter(({ apiVersion }) => apiVersion.startsWith('ballast.dev/'));

/** There are all kinds of parts, and some of each owner. */
async function allName(version: string): Promise<boolean> {
  const all = await parts();
  const owners = all.flatMap(({ metadata }) => ownersOf(metadata));
  const names = new Set(owners.map(({ kind, name }) => `${kind} ${name.replace(/-.*/, '')}`));
  return (
    OWNERS.every((one) => names.has(one)) &&
    new Set(all.map(({ kind }) => kind)).size === PARTS.length &&
    owners.every(({ apiVersion }) => apiVersion === `ballast.dev/${version}`)
  );
}

async function bringTo(version: string): Promise<void> {
  await wake();
  await until(
    `all parts to name ${version}`,
    async () => {
      await sweep();
      return allName(version);
    },
    STEP_MS,
  );
}

const versionsOf = (objects: readonly KubeObject[]): object =>
  Object.fromEntries(
    objects.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.resourceVersion]),
  );

/** Parts that the page finds, as lines. */
const found = (version: string): Promise<string> =>
  rig.runAsWritten('PARTS=', { 'grep ballast.dev/v1alpha1': `grep ballast.dev/${version}` });

/** Nobody writes what is as it should be. */
async function expectRest(): Promise<void> {
  await until(
    'all parts to stay as they are',
    async () => {
      const before = versionsOf(await parts());
      for (let look = 0; look < LOOKS; look += 1) await sweep();
      return isDeepStrictEqual(versionsOf(await parts()), before);
    },
    STEP_MS,
  );
}

test(
  'parts name v1alpha1 as long as it is stored, also where v1beta1 is served',
  async () => {
    await bringTo('v1alpha1');
    await expectRest();
  },
  STEP_MS,
);

test(
  'they follow to v1beta1 when that is stored, and back, and then rest',
  async () => {
    await sleep();
    for (const [step, version] of [
      ['2-stored', 'v1beta1'],
      ['1-served', 'v1alpha1'],
      ['2-stored', 'v1beta1'],
    ] as const) {
      await rig.applyStep(step, OWNING);
      await rig.whenConverting();
      const former = version === 'v1beta1' ? 'v1alpha1' : 'v1beta1';
      expect(await found(former)).toContain('EtcdPeer');
      await bringTo(version);
      expect(await found(former)).toBe('');
      await expectRest();
      await sleep();
    }
  },
  3 * STEP_MS,
);

const DEFINITION = { name: 'natsclusters.ballast.dev' };

/** As storage-migration does on proof, and whoever takes the version off then. */
async function takeAlphaOff(): Promise<void> {
  const { kube } = rig;
  const moved = { metadata: { labels: { moved: 'yes' } } };
  await kube.patch(beta('natsclusters'), NATS, { type: 'merge', body: moved });
  const status = { storedVersions: ['v1beta1'] };
  const proved = { ...DEFINITION, subresource: 'status' };
  await kube.patch(CRDS, proved, { type: 'merge', body: { status } });
  const body = [
    { op: 'test', path: '/spec/versions/0/name', value: 'v1alpha1' },
    { op: 'remove', path: '/spec/versions/0' },
  ] as const;
  await kube.patch(CRDS, DEFINITION, { type: 'json', body });
  await rig.whenAway('natsclusters');
}

const LINES = 200;

async function collectGarbage(): Promise<void> {
  const controllers = ['garbage-collector-controller'];
  const spec = await controllerManagerSpec(rig.plane, { controllers });
  const part = await startOwnPart(rig.plane, spec);
  await until('the garbage collector to have listed everything', () =>
    part.lastLines(LINES).some((line) => line.includes('resource monitors have synced')),
  );
}

/** How the function wrote the Service: what it applies, and what it patches. */
async function operations(): Promise<ReadonlySet<unknown>> {
  const { managedFields = [] } = (await rig.kube.get(SERVICES, NATS))?.metadata ?? {};
  const own = managedFields.filter(({ manager }) => manager === FIELD_MANAGER);
  return new Set(own.map(({ operation }) => operation));
}

test('a part that is made anew names it from the start', async () => {
  const { kube } = rig;
  const { uid = '' } = (await kube.get(SERVICES, NATS))?.metadata ?? {};
  await kube.delete(SERVICES, NATS, { uid });
  await bringTo('v1beta1');
  expect((await kube.get(SERVICES, NATS))?.metadata.uid).not.toBe(uid);
  expect(await operations()).toEqual(new Set(['Apply']));
  await sleep();
});

test('so does what no function may bring along, such as the Job of a backup', async () => {
  const name = 'nightly';
  const target = { claim: { name: 'backups' } };
  const spec = { source: { endpoints: ['http://etcd:2379'] }, target };
  const apiVersion = 'ballast.dev/v1alpha1';
  await rig.kube.create(ETCD_BACKUPS, {
    apiVersion,
    kind: 'EtcdBackup',
    metadata: { namespace, name },
    spec,
  });
  running = [await rig.startFunction(etcdBackup)];
  const jobs = async () => (await rig.kube.list(JOBS, { namespace })).items;
  await until('its Job', async () => {
    await sweep();
    return (await jobs()).length > 0;
  });
  expect((await jobs()).flatMap(({ metadata }) => ownersOf(metadata))).toMatchObject([
    { apiVersion: 'ballast.dev/v1beta1', kind: 'EtcdBackup', name },
  ]);
  await sleep();
});

test('a part that is applied names what it did, and follows by itself', async () => {
  const { kube } = rig;
  const { ownerReferences: owners = [] } = (await kube.get(SERVICES, NATS))?.metadata ?? {};
  const ownerReferences = owners.map((one) => ({ ...one, apiVersion: 'ballast.dev/v1alpha1' }));
  const selector = { 'ballast.dev/nats-cluster': 'other' };
  const body = { metadata: { ownerReferences }, spec: { selector } };
  await kube.patch(SERVICES, NATS, { type: 'merge', body });
  await bringTo('v1beta1');
  const spec = { selector: { 'ballast.dev/nats-cluster': NATS.name } };
  expect(await kube.get(SERVICES, NATS)).toMatchObject({ spec });
  expect(await operations()).toEqual(new Set(['Apply', 'Update']));
  await sleep();
});

test(
  'once v1alpha1 is gone the parts go with their owner, but not what names it in v1alpha1',
  async () => {
    const { kube } = rig;
    const nats = await kube.get(NATS_CLUSTERS, NATS);
    const uid = nats?.metadata.uid ?? '';
    const own = async (): Promise<readonly string[]> =>
      (await parts())
        .filter(({ metadata }) => ownersOf(metadata).some((owner) => owner.uid === uid))
        .map(({ metadata }) => metadata.name);
    expect((await own()).length).toBeGreaterThan(PARTS.length - 1);
    const owner = { apiVersion: 'ballast.dev/v1alpha1', kind: 'NatsCluster', name: NATS.name, uid };
    const make = (name: string, changes: object) => {
      const metadata = { namespace, name, ownerReferences: [{ ...owner, ...changes }] };
      return kube.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata });
    };
    await make('left', {});
    await make('by-hand', {});
    const lines = (await found('v1alpha1')).trim().split('\n');
    expect(lines.map((line) => line.split(/ +/)[2])).toEqual(['by-hand', 'left']);
    const which = { 'clusterrole NAME': `secret by-hand -n ${namespace}` };
    await rig.runAsWritten('kubectl patch clusterrole', which);
    await takeAlphaOff();
    const all = await own();
    await make('of-nobody', { apiVersion: 'ballast.dev/v1beta1', uid: crypto.randomUUID() });
    await collectGarbage();
    const isThere = async () =>
      (await kube.get(SECRETS, { namespace, name: 'of-nobody' })) !== null;
    await until('what belongs to nobody to be gone', async () => !(await isThere()));
    // It has looked at all of them, and their owner lives.
    expect(await own()).toEqual(all);
    await kube.delete(beta('natsclusters'), NATS, { uid }, { propagationPolicy: 'Background' });
    await until('the others to be gone', async () => (await own()).join() === 'left', STEP_MS);
  },
  STEP_MS,
);
