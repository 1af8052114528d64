// The reach of each account if its process were taken over: docs/security.md has it as a table, and
// each line of it is tried on a real API server with all that we ship applied to it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { etcdBackupRights } from '../../../knative/tools/rights/etcd-backup.ts';
import { etcdClusterRights } from '../../../knative/tools/rights/etcd-cluster.ts';
import { etcdPeerRights } from '../../../knative/tools/rights/etcd-peer.ts';
import { etcdRestoreRights } from '../../../knative/tools/rights/etcd-restore.ts';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { rightsFor } from '../../../knative/tools/migrate/manifests.ts';
import { natsClusterRights, secretRights } from '../../../knative/tools/rights/manifests.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import { METADATA_FEEDS } from '../../../shared/api/metadata-feed.ts';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import { STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { until } from '../../builders/versioned-kind.ts';
import { serversOf } from './servers-of.ts';
import { type Outcome, StolenAccount } from './accounts-at-work.ts';
import { ATTEMPTS } from './attempts.ts';
import { type Body, CLUSTER, FORGED, FORGED_SERVERS, type Owned, ownedBy } from './forged.ts';
import { DEGRADED, FORGED_CONDITIONS, PROVED, SAID, UNKNOWN } from './forged-conditions.ts';
import { etcdPeer, MEMBER, ownedBy as ofEtcdCluster } from './forged-etcd.ts';
import { Installed } from './installed.ts';
import { isAt, rowsOfPage } from './page-of-rights.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
/** `shop` has a NatsCluster and the rights for it, `other` neither. */
const NAMESPACES = ['shop', 'other', 'ballast-system', 'default', 'kube-system'];
/** The page's words for a Secret that a feed names. */
const FEED_SECRET = 'feed-nats';

/** Printed by `npm run rights`. */
const RIGHTS = [
  ...natsClusterRights('shop'),
  ...etcdClusterRights('shop'),
  ...etcdPeerRights('shop'),
  ...etcdBackupRights('shop'),
  ...etcdRestoreRights('shop'),
  // The page has one word for all that is granted by name.
  ...takeoverRights(
    'shop',
    [FEED_SECRET],
    { namespace: 'shop', name: FEED_SECRET },
    [FEED_SECRET],
    [FEED_SECRET],
  ),
  ...secretRights(FEED_SECRET),
];

let installed: Installed;
let uid: string;
const stolen = new Map<string, StolenAccount>();

const account = (name: string): StolenAccount => {
  const found = stolen.get(name);
  if (found === undefined) throw new Error(`there is no account ${name}`);
  return found;
};

beforeAll(async () => {
  installed = await Installed.open();
  const { kube, plane, wiring } = installed;
  for (const name of ['shop', 'other']) {
    await kube.create(core('namespaces'), {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  }
  await applyObjects(
    kube,
    RIGHTS.map((object) => ({ file: 'npm run rights', object })),
  );
  const secrets = [
    ['kube-system', 'crown'],
    ['ballast-system', FEED_SECRET],
    ['shop', 'passwords'],
  ] as const;
  for (const [namespace, name] of secrets) {
    const metadata = { namespace, name };
    await kube.create(core('secrets'), { apiVersion: 'v1', kind: 'Secret', metadata });
  }
  const created = await kube.create(NATS_CLUSTERS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'NatsCluster',
    metadata: { namespace: 'shop', name: CLUSTER },
    spec: {},
  });
  ({ uid } = created.object.metadata);
  const accounts = wiring.objects.filter(({ object }) => object.kind === 'ServiceAccount');
  for (const { object } of accounts) {
    const { name } = object.metadata;
    stolen.set(name, await StolenAccount.of(plane, kube, name));
  }
  // A policy holds a moment after it was made.
  await until(
    'the policy to hold',
    async () => (await write('secrets', { metadata: { name: 'unlabelled' } }, true)).status === 422,
  );
});

afterAll(async () => {
  await installed?.stop();
});

test('the API server allows each account what the page says, and nothing else', async () => {
  const rows = await rowsOfPage();
  const named = new Set(rows.map((row) => row.account));
  expect([...named].filter((name) => !stolen.has(name))).toEqual([]);
  for (const [name, one] of stolen) {
    for (const namespace of NAMESPACES) {
      const said = rows.filter((row) => row.account === name && isAt(row.place, namespace));
      const wanted = said.flatMap(({ rights }) => rights);
      const found = [...(await one.rightsIn(namespace))].map((right) =>
        right.replace(FEED_SECRET, 'NAME'),
      );
      expect([name, namespace, found.toSorted()]).toEqual([name, namespace, wanted.toSorted()]);
    }
  }
});

test('whoever has an account and wants more is refused', async () => {
  const through: string[] = [];
  for (const [name, one] of stolen) {
    for (const [attempted, attempt] of Object.entries(ATTEMPTS)) {
      const { status, text } = await one.try(attempt);
      // The admission policy says 422 of what RBAC lets through.
      const isOurs = status === 422 && text.includes("ValidatingAdmissionPolicy 'ballast-");
      if (status !== 403 && !isOurs) through.push(`${name} ${attempted}: ${status} ${text}`);
    }
  }
  expect(through).toEqual([]);
});

test('metadata reads the one Secret that is granted, and no other beside it', async () => {
  const at = (name: string) =>
    account('metadata').try({
      method: 'GET',
      path: `/api/v1/namespaces/ballast-system/secrets/${name}`,
    });
  expect((await at(FEED_SECRET)).status).toBe(200);
  expect((await at('another')).status).toBe(403);
});

const GROUPS: Readonly<Record<string, string>> = {
  secrets: '/api/v1',
  services: '/api/v1',
  statefulsets: '/apis/apps/v1',
  poddisruptionbudgets: '/apis/policy/v1',
  networkpolicies: '/apis/networking.k8s.io/v1',
};

/** By the account of nats-cluster, in shop. */
function write(resource: string, body: Body, isTry = false): Promise<Outcome> {
  const path = `${GROUPS[resource]}/namespaces/shop/${resource}${isTry ? '?dryRun=All' : ''}`;
  return account('nats-cluster').try({ method: 'POST', path, body });
}

describe('nats-cluster where it is granted', () => {
  const owned: Owned = (name, more = {}) => ownedBy(CLUSTER, uid, name, more);

  test('reads any Secret by its name, which is what is left', async () => {
    const path = '/api/v1/namespaces/shop/secrets/passwords';
    expect((await account('nats-cluster').try({ method: 'GET', path })).status).toBe(200);
  });

  test('makes what a NatsCluster is made of', async () => {
    expect((await write('secrets', { metadata: owned('nats-config') })).status).toBe(201);
    const servers = { metadata: owned(CLUSTER), spec: serversOf(CLUSTER) };
    expect(await write('statefulsets', servers, true)).toMatchObject({ status: 201 });
  });

  test.each(FORGED)('is refused %s', async (_what, resource, body, why) => {
    const { status, text } = await write(resource, body(owned));
    expect([status, text]).toEqual([422, expect.stringContaining(why)]);
  });

  test.each(FORGED_SERVERS)('is refused servers %s', async (_what, spec, why) => {
    const { status, text } = await write('statefulsets', { metadata: owned(CLUSTER), spec }, true);
    expect([status, text]).toEqual([422, expect.stringContaining(why)]);
  });

  test('goes on with an image that is older than the list, and takes no other one', async () => {
    const image = 'images.example.com/nats:2.12.0';
    const metadata = { ...owned(CLUSTER), namespace: 'shop', name: CLUSTER };
    const old = serversOf(CLUSTER, { container: { image } });
    const servers = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: old };
    await installed.kube.create(STATEFUL_SETS, servers);
    const path = `/apis/apps/v1/namespaces/shop/statefulsets/${CLUSTER}?dryRun=All`;
    const change = (spec: object) =>
      account('nats-cluster').try({ method: 'PATCH', path, body: { metadata: {}, spec } });
    expect(await change({ replicas: 5 })).toMatchObject({ status: 200 });
    const other = serversOf(CLUSTER, { container: { image: 'images.example.com/nats:2.13.0' } });
    const { status, text } = await change(other);
    expect([status, text]).toEqual([422, expect.stringContaining('may run in a NatsCluster')]);
  });

  test('changes and deletes nothing of others', async () => {
    const { kube } = installed;
    const one = account('nats-cluster');
    const labels = { 'ballast.dev/nats-cluster': CLUSTER };
    const of = (path: string) => `/api/v1/namespaces/shop/${path}`;
    const body = { metadata: owned('nats-tls') };
    // An object of the right name that belongs to somebody else.
    const metadata = { namespace: 'shop', name: 'nats-tls' };
    await kube.create(core('secrets'), { apiVersion: 'v1', kind: 'Secret', metadata });
    const answer = await one.try({ method: 'PATCH', path: of('secrets/nats-tls'), body });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('somebody else')]);
    const spec = { containers: [{ name: 'a', image: 'a' }] };
    for (const [name, own] of [
      ['web-1', {}],
      ['web-2', labels],
    ] as const) {
      const made = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'shop', name, labels: own },
      };
      await kube.create(core('pods'), { ...made, spec });
      expect((await one.try({ method: 'DELETE', path: of(`pods/${name}`) })).status).toBe(422);
    }
    await kube.create(core('persistentvolumeclaims'), {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: 'shop', name: 'data-web-0' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    const claim = of('persistentvolumeclaims/data-web-0');
    expect((await one.try({ method: 'DELETE', path: claim })).status).toBe(422);
    const label = { metadata: { labels } };
    expect((await one.try({ method: 'PATCH', path: claim, body: label })).status).toBe(422);
  });

  test('and where it is not granted, nothing at all', async () => {
    const path = '/api/v1/namespaces/other/secrets/passwords';
    expect((await account('nats-cluster').try({ method: 'GET', path })).status).toBe(403);
  });
});

const DIGEST = `sha256:${'0'.repeat(64)}`;
const natsOf = (image: string) =>
  installed.kube.apply(
    NATS_CLUSTERS,
    {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'NatsCluster',
      metadata: { namespace: 'shop', name: 'mine' },
      spec: { image },
    },
    { force: true, dryRun: true },
  );

test.each([
  'images.example.com/miner:1.0.0',
  `images.example.com/nats@${DIGEST}`,
  `docker.io/library/natsy@${DIGEST}`,
  `nats/miner@${DIGEST}`,
])('a NatsCluster of %s, which is not allowed, is refused to whoever makes it', async (image) => {
  const why = `Of ${image} not all may run .* begins with nats:, .* ballast-nats-images`;
  await expect(natsOf(image)).rejects.toThrow(new RegExp(why));
});

test.each([`nats@${DIGEST}`, `docker.io/library/nats@${DIGEST}`, `nats:2.15.3@${DIGEST}`])(
  'a NatsCluster of %s is pinned to a digest of what every tag is allowed of',
  async (image) => {
    expect((await natsOf(image))['spec']).toMatchObject({ image });
  },
);

describe('dead-letters, which says of others that nobody looks', () => {
  beforeAll(async () => {
    const { kube } = installed;
    const of = (kind: string, namespace?: string) => ({
      apiVersion: 'ballast.dev/v1alpha1',
      kind,
      metadata: { name: 'said', ...(namespace === undefined ? {} : { namespace }) },
    });
    const resource = { group: 'example.com', resource: 'widgets' };
    const made = [
      [NATS_CLUSTERS, { ...of('NatsCluster', 'shop'), spec: {} }],
      [ETCD_CLUSTERS, { ...of('EtcdCluster', 'shop'), spec: {} }],
      [METADATA_FEEDS, { ...of('MetadataFeed', 'ballast-system'), spec: {} }],
      [STORAGE_MIGRATIONS, { ...of('StorageMigration'), spec: { resource } }],
    ] as const;
    const body = { status: { observedGeneration: 1, conditions: SAID } };
    for (const [ref, manifest] of made) {
      await kube.create(ref, manifest);
      const target = { ...manifest.metadata, subresource: 'status' };
      await kube.patch(ref, target, { type: 'merge', body });
    }
    // EtcdPeers are made by the account of etcd-cluster alone.
    const path = '/apis/ballast.dev/v1alpha1/namespaces/shop/etcdpeers';
    const peer = etcdPeer(ofEtcdCluster('u1'));
    await account('etcd-cluster').try({ method: 'POST', path, body: peer });
    const target = { namespace: 'shop', name: MEMBER, subresource: 'status' };
    await kube.patch(ETCD_PEERS, target, { type: 'merge', body });
  });

  const PATHS = [
    'namespaces/shop/natsclusters/said',
    'namespaces/shop/etcdclusters/said',
    `namespaces/shop/etcdpeers/${MEMBER}`,
    'namespaces/ballast-system/metadatafeeds/said',
    'storagemigrations/said',
  ];
  const putStatus = (path: string, status: object, query = '?dryRun=All'): Promise<Outcome> =>
    account('dead-letters').try({
      method: 'PATCH',
      path: `/apis/ballast.dev/v1alpha1/${path}/status${query}`,
      body: { status },
    });

  test.each(FORGED_CONDITIONS)('is refused when it %s', async (_what, status, why) => {
    for (const path of PATHS) {
      const { status: code, text } = await putStatus(path, status);
      expect([path, code, text]).toEqual([path, 422, expect.stringContaining(why)]);
    }
  });

  test('says Unknown of a backup that an EtcdCluster had, and nothing else of it', async () => {
    const { kube } = installed;
    const [, path = ''] = PATHS;
    const target = { namespace: 'shop', name: 'said', subresource: 'status' };
    const say = (conditions: readonly object[]): Promise<unknown> =>
      kube.patch(ETCD_CLUSTERS, target, { type: 'merge', body: { status: { conditions } } });
    const ready = { ...UNKNOWN, type: 'BackupReady' };
    await say([...SAID, { ...ready, status: 'True', reason: 'NewEnough' }]);
    expect((await putStatus(path, { conditions: [...SAID, ready] })).status).toBe(200);
    const wrong = { conditions: [...SAID, { ...ready, status: 'False' }] };
    expect((await putStatus(path, wrong)).status).toBe(422);
    await say(SAID);
  });

  test('says Unknown of what says True, and cannot say True again', async () => {
    for (const path of PATHS) {
      expect(await putStatus(path, { conditions: [UNKNOWN, DEGRADED, PROVED] }, '')).toMatchObject({
        status: 200,
      });
      expect((await putStatus(path, { conditions: SAID }, '')).status).toBe(422);
    }
  });

  test('renews no Lease, and a function none but its own', async () => {
    const path = '/apis/coordination.k8s.io/v1/namespaces/ballast-system/leases';
    const body = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'ballast-nats-cluster' },
    };
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const renew = async (name: string, lease: string): Promise<number> => {
      const query = '?fieldManager=stolen&force=true';
      const attempt = { method: 'PATCH', path: `${path}/${lease}${query}`, headers } as const;
      const metadata = { name: lease };
      return (await account(name).try({ ...attempt, body: { ...body, metadata } })).status;
    };
    expect(await renew('nats-cluster', 'ballast-nats-cluster')).toBe(201);
    for (const name of ['dead-letters', 'storage-migration', 'metadata', 'locate']) {
      expect([name, await renew(name, 'ballast-nats-cluster')]).toEqual([name, 403]);
    }
    expect(await renew('nats-cluster', 'another')).toBe(403);
    const made = account('nats-cluster').try({ method: 'POST', path, body });
    expect((await made).status).toBe(403);
  });
});

test('storage-migration changes nothing of the role of a kind but whose it is', async () => {
  const of = { group: 'example.com', resource: 'widgets', namespace: 'ballast-system' };
  const how = { dryRun: false, trim: 'OnProof', mode: 'Ballast', verifiesEtcd: false } as const;
  const [role, binding] = rightsFor({ ...of, ...how });
  if (role === undefined || binding === undefined) throw new Error('nothing was printed');
  await applyObjects(installed.kube, [
    { file: 'npm run migrate', object: role },
    { file: 'npm run migrate', object: binding },
  ]);
  const { name } = role.metadata;
  const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`;
  const patch = async (body: object, at = path): Promise<number> =>
    (await account('storage-migration').try({ method: 'PATCH', path: at, body })).status;
  const owner = {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'StorageMigration',
    name: 'a',
    uid: 'b',
  };
  // The API server knows of new rights after a moment.
  await expect.poll(() => patch({ metadata: { ownerReferences: [owner] } })).toBe(200);
  const all = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
  const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
  for (const rule of [all, secrets]) expect(await patch({ rules: [rule] })).toBe(403);
  const aggregated = { clusterRoleSelectors: [{ matchLabels: {} }] };
  expect(await patch({ aggregationRule: aggregated })).toBe(403);
  expect(await patch({ subjects: [] }, path.replace('roles', 'rolebindings'))).toBe(403);
  expect(await patch({ metadata: { labels: { a: 'b' } } }, path.replace(name, 'view'))).toBe(403);
});
