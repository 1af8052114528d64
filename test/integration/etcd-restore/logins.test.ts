// A backup of an etcd that asks for logins: it is refused as long as nobody could log in to what
// would be restored, and becomes an EtcdCluster whose users are those of the backup.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backUp } from '../../../functions/etcd-backup/backup.ts';
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { CLAIMS, SECRETS } from '../../../shared/stateful/parts.ts';
import { EtcdCluster } from '../etcd/cluster.ts';
import { BUCKET } from '../etcd-backup/s3-server.ts';
import { type Named, SCENARIO_MS } from '../etcd-cluster/etcd-scene.ts';
import { RestorePlace } from './restore-place.ts';

const namespace = 'bank';
const ROOT = { user: 'root', password: 'not-a-secret' };
const USER = { user: 'orders', password: 'not-a-secret-either' };
const named = (name: string): Named => ({ namespace, name });

let place: RestorePlace;
let old: EtcdCluster;

beforeAll(async () => {
  place = await RestorePlace.start();
  await place.namespace(namespace);
  old = await EtcdCluster.start(1);
  const { url } = old.placeOf(0).endpoint;
  const admin = openEtcdAdmin({ endpoints: [url] });
  await admin.keys.put('a', 'of old');
  for (const login of [ROOT, USER]) await admin.users.add(login);
  await admin.users.grant('root', 'root');
  await admin.auth.enable();
  await admin.close();
  await putBackup(url);
}, SCENARIO_MS);

afterAll(async () => {
  await old?.stop();
  await place?.stop();
});

/** As etcd-backup leaves it, with its EtcdBackup. */
async function putBackup(url: string): Promise<void> {
  const path = join(old.plane.dir, 'old.db');
  const { signal } = new AbortController();
  const etcd = { endpoints: [url], login: ROOT };
  const { facts } = await backUp({ etcd, to: { path } }, { signal, onProgress: () => undefined });
  const key = 'bank/last/old.db';
  await place.bucket.putNew(key, await readFile(path), 'test');
  await place.bucket.putNew(`${key}.json`, Buffer.from(JSON.stringify(facts)), 'test');
  const { s3 } = place.inS3(key) as { readonly s3: object };
  const { kube } = place.etcd;
  await kube.create(ETCD_BACKUPS, {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { ...named('last') },
    spec: { source: { endpoints: [url] }, target: { s3 } },
  });
  const { kind: _, ...backup } = facts;
  const status = { phase: 'Complete', location: `s3://${BUCKET}/${key}`, backup };
  const target = { ...named('last'), subresource: 'status' };
  await kube.patch(ETCD_BACKUPS, target, { type: 'merge', body: { status } });
}

const USERS = { users: [{ name: 'orders', roles: ['orders'] }] };
const ROLES = {
  roles: [{ name: 'orders', permissions: [{ prefix: '', access: 'Read' }] }],
};

async function restore(name: string, cluster: string, spec: object): Promise<void> {
  const source = { etcdBackup: { name: 'last' } };
  const storage = { size: '10Gi' };
  await place.create(named(name), {
    source,
    etcdCluster: { name: cluster, spec: { replicas: 1, storage, ...spec } },
  });
}

const foundOf = async (name: string): Promise<readonly unknown[]> => [
  await place.etcd.kube.get(CLAIMS, named(`data-${name}-0`)),
  await place.etcd.kube.get(ETCD_CLUSTERS, named(name)),
];

test.each<[string, object, RegExp]>([
  ['no auth in its spec', {}, /and write auth into spec\.etcdCluster\.spec\./],
  ['no password of root', { auth: {} }, /There is no Secret main-root with a password\./],
])('with %s it is refused, and nothing is left', { timeout: SCENARIO_MS }, async (_, spec, why) => {
  const name = 'auth' in spec ? 'no-password' : 'no-auth';
  await restore(name, 'main', spec);
  await place.untilSays(named(name), /^False RestoreFailed: BACKUP_ASKS_LOGINS: /);
  expect(await place.condition(named(name))).toMatch(why);
  await expect
    .poll(
      async () => {
        await place.sweep();
        return (await place.status(named(name))).phase;
      },
      { timeout: 60_000 },
    )
    .toBe('Failed');
  expect(await foundOf('main')).toEqual([null, null]);
});

test(
  'with the password of root in its Secret it becomes an EtcdCluster with the users of before',
  { timeout: SCENARIO_MS },
  async () => {
    await place.etcd.kube.create(SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...named('main-root'),
        labels: { 'ballast.dev/etcd-cluster': 'main' },
      },
      stringData: { username: ROOT.user, password: ROOT.password },
    });
    await restore('with', 'main', { auth: { ...USERS, ...ROLES } });
    await place.untilSays(named('with'), /^False EtcdClusterStarting/);
    await place.etcd.wakeUntilReady(named('main'));
    await place.untilSays(named('with'), /^True Restored: EtcdCluster main has 1 keys/);
    const client = await place.etcd.client(named('main'), ROOT);
    expect((await client.keys.get('a')).found?.value.toString()).toBe('of old');
    await client.close();
    const nobody = await place.etcd.client(named('main'));
    await expect(nobody.keys.get('a')).rejects.toThrow(/login|user name is empty/);
    await nobody.close();
  },
);
