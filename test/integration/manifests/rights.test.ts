// Each account has the rights that its function uses, and no others: every function does all that
// it does under its own account, and the API server's audit log says what it asked for.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deadLetters } from '../../../functions/dead-letters/index.ts';
import { etcdBackup } from '../../../functions/etcd-backup/index.ts';
import { etcdCluster } from '../../../functions/etcd-cluster/index.ts';
import { etcdPeer } from '../../../functions/etcd-peer/index.ts';
import { etcdRestore } from '../../../functions/etcd-restore/index.ts';
import { locate } from '../../../functions/locate/index.ts';
import { metadata } from '../../../functions/metadata/index.ts';
import { natsCluster } from '../../../functions/nats-cluster/index.ts';
import { storageAudit } from '../../../functions/storage-audit/index.ts';
import { storageMigration } from '../../../functions/storage-migration/index.ts';
import { takeover } from '../../../functions/takeover/index.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { rightsFor } from '../../../knative/tools/migrate/manifests.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { etcdClusterRights } from '../../../knative/tools/rights/etcd-cluster.ts';
import { etcdPeerRights } from '../../../knative/tools/rights/etcd-peer.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { natsClusterRights, secretRights } from '../../../knative/tools/rights/manifests.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { adapterPart } from '../../../knative/try/local/plane/adapter.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { METADATA_FEEDS } from '../../../shared/api/metadata-feed.ts';
import {
  STORAGE_MIGRATIONS,
  type StorageMigrationStatus,
} from '../../../shared/api/storage-migration.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { GROUP, until, VersionedKind } from '../../builders/versioned-kind.ts';
import { grantsIn, roleBefore, told } from './grants.ts';
import { HandMadeBackup } from './hand-made-backup.ts';
import { HandMadeRestore } from './hand-made-restore.ts';
import { HandMadeEtcd, namespace as ETCDS } from './hand-made-etcd.ts';
import { HandMadePeer } from './hand-made-peer.ts';
import { LeftEtcd } from './left-etcd.ts';
import { HandMadeServer } from './hand-made-server.ts';
import { startOwnPart } from '../../lanes/own-part.ts';
import { untilGranted } from './granted.ts';
import { Installed } from './installed.ts';
import { notShownBy } from './look-at-console.ts';
import { type Misfits, misfitsOf, NONE } from './misfits.ts';

const NAMESPACE = 'ballast-system';
const SECRETS = { group: '', version: 'v1', resource: 'secrets' };
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' };
const CRDS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};
const PLURAL = 'gears';

const LONG_AGO = '2026-01-01T00:00:00Z';
const MEANWHILE = { message: 'Said by hand.', lastTransitionTime: LONG_AGO } as const;
const PROVED = { type: 'Proved', status: 'True', reason: 'SecondPass', ...MEANWHILE };
const UNDER_WAY = { type: 'Progressing', status: 'True', reason: 'Rewriting', ...MEANWHILE };

let installed: Installed;
let skippedMs = 0;
const later: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + skippedMs };
const printed: Manifest[] = [];
let grantedAtMs = 0;

beforeAll(async () => {
  installed = await Installed.open();
  const request = { group: GROUP, resource: PLURAL, dryRun: false, trim: 'OnProof' } as const;
  const ofKind = {
    ...request,
    mode: 'Ballast',
    verifiesEtcd: false,
    namespace: NAMESPACE,
  } as const;
  await grantPrinted(rightsFor(ofKind));
});

/** As `npm run migrate` and `npm run rights` print it; what was refused until then is forgiven. */
async function grantPrinted(rights: readonly Manifest[]): Promise<void> {
  printed.push(...rights);
  await applyObjects(
    installed.kube,
    rights.map((object) => ({ file: 'printed', object })),
  );
  await untilGranted(installed.kube, NAMESPACE, grantsIn(rights));
  grantedAtMs = systemClock.nowMs();
}

afterAll(async () => {
  await installed?.stop();
});

/** A minute later, as the tick comes. */
async function tick({ port }: RunningFunction): Promise<number> {
  skippedMs += 60_000;
  return (await sendEvent(port, 'dev.knative.sources.ping', {})).status;
}

/** The real adapter, as its own account, and straight to the function. */
async function startSource(name: string, port: number): Promise<void> {
  const source = installed.wiring.sources.find((one) => one.name === name);
  if (source === undefined) throw new Error(`no source is named ${name}`);
  const account = { namespace: NAMESPACE, name: source.serviceAccountName };
  const spec = adapterPart(source, {
    binary: await resolvePart('apiserver_receive_adapter'),
    kubeconfigPath: await installed.accounts.kubeconfigFor(`adapter/${name}`, account),
    sinkUrl: `http://127.0.0.1:${port}/`,
    profilingPort: await freePort(),
  });
  await startOwnPart(installed.plane, spec);
}

const misfits = async (account: string): Promise<Misfits> => {
  const objects = [...installed.wiring.objects.map(({ object }) => object), ...printed];
  const requests = await installed.requests();
  return misfitsOf({ account, requests, objects, grantedAtMs });
};

test('metadata: a feed, one with a Secret, events, sweeps that list and replay', async () => {
  const { kube, plane } = installed;
  const url = plane.part('nats-server').urls?.['metadata'] ?? '';
  await kube.create(METADATA_FEEDS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'MetadataFeed',
    metadata: { name: 'other', namespace: NAMESPACE },
    spec: { nats: { secretRef: { name: 'other-nats' } } },
  });
  const without = await installed.run(metadata, { NATS_URL: url }, later);
  const refused = await sendEvent(without.port, 'dev.knative.sources.ping', {});
  expect([refused.status, await refused.text()]).toEqual([
    503,
    expect.stringContaining('npm run -s rights -- metadata --secret other-nats | kubectl apply'),
  ]);
  await without.stop();
  await grantPrinted(secretRights('other-nats'));
  const one = await installed.run(metadata, { NATS_URL: url }, later);
  await startSource('metadata', one.port);
  // The Secret is not there yet, which is said, and tried again.
  expect(await tick(one)).toBe(503);
  await kube.create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'other-nats', namespace: NAMESPACE },
    stringData: { url },
  });
  await until('both feeds to be swept', async () => (await tick(one)) === 204);
  await kube.create(NAMESPACES, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'changed' },
  });
  expect(await tick(one)).toBe(204);
  expect(await misfits('metadata')).toEqual(NONE);
  expect(await misfits('metadata-source')).toEqual(NONE);
});

test('storage-migration: a definition asks; objects are moved, proved, trimmed', async () => {
  const { kube, plane } = installed;
  const kind = new VersionedKind(plane, kube, PLURAL);
  await kind.fill(3);
  const one = await installed.run(storageMigration, {
    SETTLE_SECONDS: '0.2',
    LONGEST_WRITE_SECONDS: '0',
    ETCD_ENDPOINTS: '',
  });
  await startSource('storage-migration', one.port);
  const body = { metadata: { annotations: { 'ballast.dev/migrate-storage': 'true' } } };
  await kube.patch(CRDS, { name: kind.crdName }, { type: 'merge', body });
  await until('the migration to be done', async () => {
    await tick(one);
    const object = await kube.get(STORAGE_MIGRATIONS, { name: kind.crdName });
    return (object?.['status'] as { readonly phase?: string } | undefined)?.phase === 'Done';
  });
  expect(await misfits('storage-migration')).toEqual(NONE);
  expect(await misfits('storage-migration-source')).toEqual(NONE);
});

const NETWORK_POLICIES = {
  group: 'networking.k8s.io',
  version: 'v1',
  resource: 'networkpolicies',
} as const;

const applyBefore = (resource: string, rights: readonly Manifest[]): Promise<unknown> => {
  const before = rights.map((object) => ({ file: 'before', object: roleBefore(resource, object) }));
  return applyObjects(installed.kube, before);
};

test('nats-cluster: parts are made, a claim grows, a lost server makes room', async () => {
  const { kube } = installed;
  const one = await installed.run(natsCluster, { WORK_SECONDS: '0.1' }, later);
  const server = new HandMadeServer(kube);
  await server.create();
  const untilTicked = (awaited: string, isSo: () => Promise<boolean>): Promise<void> =>
    until(awaited, async () => {
      await tick(one);
      return isSo();
    });
  // Nothing of it is granted in this namespace yet.
  expect(await tick(one)).toBe(204);
  expect(await server.condition('Ready')).toMatch(
    /^Unknown RightsMissing: .*npm run -s rights -- nats-cluster -n default [|] kubectl apply -f -/,
  );
  const rights = natsClusterRights('default', { name: 'nats', users: [], secrets: [] });
  // Without policies all else goes on.
  await applyBefore('networkpolicies', rights);
  await startSource('nats-cluster', one.port);
  await untilTicked('the StatefulSet to be made', () => server.hasStatefulSet());
  const policy = { namespace: 'default', name: 'nats' };
  await grantPrinted(rights);
  await untilTicked(
    'the policy to be made',
    async () => (await kube.get(NETWORK_POLICIES, policy)) !== null,
  );
  await server.growClaim();
  await untilTicked('the claim to grow', () => server.hasGrown());
  await server.losePlace();
  await untilTicked('the pod and its claim to go', () => server.isGone());
  expect(await misfits('nats-cluster')).toEqual(NONE);
  expect(await misfits('nats-cluster-source')).toEqual(NONE);
});

test('etcd-peer: claim and StatefulSet are made, the claim grows, all but it goes', async () => {
  const { kube } = installed;
  const one = await installed.run(etcdPeer, { WORK_SECONDS: '0.1' }, later);
  const peer = new HandMadePeer(kube);
  await peer.create();
  const untilTicked = (what: string, isSo: () => Promise<boolean>): Promise<void> =>
    until(what, async () => {
      await tick(one);
      return isSo();
    });
  expect(await tick(one)).toBe(204);
  expect(await peer.condition('Ready')).toMatch(
    /^Unknown RightsMissing: .*npm run -s rights -- etcd-peer -n default [|] kubectl apply -f -/,
  );
  await grantPrinted(etcdPeerRights('default', 'main'));
  await startSource('etcd-peer', one.port);
  await untilTicked('the StatefulSet to be made', () => peer.hasStatefulSet());
  await peer.start();
  await untilTicked('the claim to be told of', async () =>
    (await peer.condition('Degraded')).startsWith('True ClaimPending'),
  );
  await peer.growClaim();
  await untilTicked('the claim to grow', () => peer.hasGrown());
  await peer.delete();
  await untilTicked('the StatefulSet to go', async () => !(await peer.hasStatefulSet()));
  expect(await peer.isGone()).toBe(false);
  await peer.endPod();
  await untilTicked('the peer to go', () => peer.isGone());
  expect(await peer.hasClaim()).toBe(true);
  expect(await misfits('etcd-peer')).toEqual(NONE);
  expect(await misfits('etcd-peer-source')).toEqual(NONE);
});

test('etcd-cluster: a member is born and restarted, another one is lost as a learner', async () => {
  const { kube, plane } = installed;
  const one = await installed.run(etcdCluster, { WORK_SECONDS: '0.1' }, later);
  const other = await installed.run(etcdPeer, { WORK_SECONDS: '0.1' }, later);
  const etcd = new HandMadeEtcd(kube, plane);
  await etcd.create();
  expect(await tick(one)).toBe(204);
  expect(await etcd.condition('Ready')).toMatch(
    /^Unknown RightsMissing: .*npm run -s rights -- etcd-cluster -n etcds [|] kubectl apply -f -/,
  );
  const ofOne = etcdClusterRights(ETCDS, { name: 'etcd', secrets: [], users: [] });
  const rights = [...ofOne, ...etcdPeerRights(ETCDS)];
  // Without schedules all else goes on.
  await applyBefore('etcdbackupschedules', rights);
  await startSource('etcd-cluster', one.port);
  const untilTicked = (awaited: string, isSo: () => Promise<boolean>): Promise<void> =>
    until(awaited, async () => {
      await tick(one);
      await tick(other);
      return isSo();
    });
  await etcd.startEtcd();
  await untilTicked('the first StatefulSet to be made', () => etcd.runFirst());
  await untilTicked('its claim to be marked', () => etcd.isMarked());
  const lacking = /^Unknown RightsMissing: .*list resource "etcdbackupschedules".* -n etcds [|]/;
  expect(await etcd.condition('BackupReady')).toMatch(lacking);
  await grantPrinted(rights);
  await etcd.promiseBackups();
  await untilTicked('its backup to be told', () => etcd.isBackedUp(one));
  await etcd.takePromiseBack();
  await etcd.edit({ snapshotCount: 5_000 });
  await untilTicked('its pod to be restarted', () => etcd.runFirst());
  await etcd.edit({ replicas: 3 });
  await untilTicked('a member to be added', () => etcd.loseSecond());
  await untilTicked('its StatefulSet to go', () => etcd.endSecond());
  await untilTicked('its claim to go', () => etcd.isSecondGone());
  expect(await misfits('etcd-cluster')).toEqual(NONE);
  expect(await misfits('etcd-cluster-source')).toEqual(NONE);
});

test.each([
  ['etcd-backup', etcdBackup, HandMadeBackup, etcdBackupRights] as const,
  ['etcd-restore', etcdRestore, HandMadeRestore, etcdRestoreRights] as const,
])('%s: a Job is made, its pod waits, and is done', async (name, definition, Made, rights) => {
  const one = await installed.run(definition, { WORK_SECONDS: '0.1' }, later);
  const made = await Made.create(installed.kube);
  expect(await tick(one)).toBe(204);
  const missing = new RegExp(`^Unknown RightsMissing: .* -- ${name} -n`);
  expect(await made.condition('Complete')).toMatch(missing);
  await grantPrinted(rights('default'));
  await startSource(name, one.port);
  await made.live(() => tick(one));
  expect([await misfits(name), await misfits(`${name}-source`)]).toEqual([NONE, NONE]);
});

test('takeover: nothing where there is none; then what is left is read, and Secrets', async () => {
  const one = await installed.run(takeover, { WORK_SECONDS: '0.1' }, later);
  const count = async (): Promise<number> => (await asked()).length;
  const asked = async (): Promise<readonly string[]> =>
    (await installed.requests()).filter(({ account }) => account === 'takeover').map(told);
  const before = await count();
  expect(await tick(one)).toBe(204);
  expect((await asked()).slice(before)).toEqual(['takeover: list ballast.dev/takeovers']);
  const left = await LeftEtcd.create(installed.kube);
  expect(await tick(one)).toBe(204);
  expect(await left.planned()).toMatch(
    /^Unknown RightsMissing: .* -- takeover -n left [|] kubectl/,
  );
  // Without Secrets all else is looked at.
  await applyBefore('secrets', left.rights);
  expect(await tick(one)).toBe(204);
  expect(await left.reasons()).toContain('SecretForbidden');
  await grantPrinted(left.rights);
  await left.namesOperator();
  expect(await tick(one)).toBe(204);
  const reasons = await left.reasons('elsewhere');
  expect(reasons).toEqual(expect.arrayContaining(['OperatorMissing', 'SecretMissing']));
  expect(await misfits('takeover')).toEqual(NONE);
});

test('dead-letters: an Event, one more of the same, and what nobody swept', async () => {
  const { kube } = installed;
  const migration = { name: `${PLURAL}.${GROUP}` };
  // At its end nothing is written any more; whatever it was looked at for.
  await kube.patch(
    STORAGE_MIGRATIONS,
    { ...migration, subresource: 'status' },
    { type: 'merge', body: { status: { conditions: [PROVED, UNDER_WAY] } } },
  );
  await LeftEtcd.sayPlanned(kube, { ...PROVED, type: 'Planned' });
  const inAnHour: Clock = { ...later, nowMs: () => later.nowMs() + 3_600_000 };
  const one = await installed.run(deadLetters, {}, inAnHour);
  const own = { 'ce-ballastfunction': 'dead-letters' };
  const requests = await sendEvent(one.port, 'dev.knative.sources.ping', {}, own);
  expect(requests.status).toBe(204);
  // Its function is there, and takes its word back as soon as it hears of it.
  const said = async (): Promise<readonly string[]> => {
    const object = await kube.get(STORAGE_MIGRATIONS, migration);
    const { conditions = [] } = (object?.['status'] ?? {}) as StorageMigrationStatus;
    return conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`).toSorted();
  };
  await expect
    .poll(said, { timeout: 20_000 })
    .toEqual(['Blocked False NotBlocked', 'Progressing False Done', 'Proved True SecondPass']);
  const server = new HandMadeServer(kube);
  await expect.poll(() => server.condition('Progressing'), { timeout: 20_000 }).toMatch(/^True /);
  const about = {
    'ce-apiversion': 'v1',
    'ce-kind': 'Pod',
    'ce-namespace': 'default',
    'ce-name': 'web-1',
  };
  for (const id of ['1', '2']) {
    const { status } = await sendEvent(one.port, 'dev.example', {}, { ...about, 'ce-id': id });
    expect(status).toBe(204);
  }
  expect(await misfits('dead-letters')).toEqual(NONE);
});

test('locate and storage-audit ask the API server nothing, console our kinds', async () => {
  const url = installed.plane.part('nats-server').urls?.['locate'] ?? '';
  const where = await installed.run(locate, { NATS_URL: url });
  const { status } = await fetch(`http://127.0.0.1:${where.port}/feed`);
  expect(status).toBeLessThan(504);
  await installed.run(storageAudit, { ETCD_ENDPOINTS: '' });
  const accounts = ['locate', 'storage-audit'];
  expect((await installed.requests()).filter(({ account }) => accounts.includes(account))).toEqual(
    [],
  );
  expect(await notShownBy(installed)).toEqual([]);
  const all = [...accounts, 'console'];
  expect(await Promise.all(all.map(misfits))).toEqual([NONE, NONE, NONE]);
});

test('no rule of any role names everything', () => {
  const objects = installed.wiring.objects.map(({ object }) => object);
  const wide = grantsIn(objects).filter(({ verb, group, resource }) =>
    [verb, group, resource].includes('*'),
  );
  expect(wide.map(told)).toEqual([]);
  expect(grantsIn(objects).length).toBeGreaterThan(20);
});
