// Common names in certificates, which etcd takes for users once it asks for logins: what its
// gateway makes of them decides which certificates a function may use.
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Authority } from '../../../knative/try/local/plane/authority.ts';
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import { TrailedHash } from '../../../shared/etcd/trailed-hash.ts';
import type { Identity } from '../../../shared/x509.ts';
import { EtcdCluster } from './cluster.ts';

const ROOT = { user: 'root', password: 'for-root' };
const ours = new Authority('ours');
const nameless = ours.issue({ organizations: ['clients'], hosts: ['client.etcd'] });

/** A member whose own certificate has the common name of root, as an authority of a user's may. */
const startMember = (part: 'etcd' | 'etcd-previous' | 'etcd-next', commonName?: string) =>
  EtcdCluster.start(1, {
    part,
    tls: {
      caPem: ours.certPem,
      client: nameless,
      certificate: (name) =>
        ours.issue({
          organizations: ['members'],
          hosts: [name],
          ...(commonName === undefined ? {} : { commonName }),
        }),
    },
  });

async function turnOn(cluster: EtcdCluster): Promise<void> {
  const { users, auth } = cluster.admin({ login: ROOT });
  await users.add(ROOT);
  await users.grant('root', 'root');
  await auth.enable();
}

/** The users that it tells to whoever asks with these headers and no login. */
const usersTold = (cluster: EtcdCluster, headers: object, { certPem, keyPem }: Identity) =>
  new Promise<string>((resolve, reject) => {
    const { url, serverName: servername } = cluster.placeOf(0).endpoint;
    const tls = { ca: ours.certPem, cert: certPem, key: keyPem, servername, agent: false };
    const asked = request(
      `${url}/v3/auth/user/list`,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, ...tls },
      (answer) => {
        let text = '';
        answer.on('data', (chunk) => (text += String(chunk)));
        answer.on('end', () => resolve(text));
      },
    );
    asked.on('error', reject);
    asked.end('{}');
  });

describe.each(['etcd-previous', 'etcd', 'etcd-next'] as const)('%s', (part) => {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    cluster = await startMember(part);
    await turnOn(cluster);
  });

  afterAll(async () => {
    await cluster?.stop();
  });

  test('a client whose certificate has a common name is answered by nobody', async () => {
    const named = ours.issue({ commonName: 'root' });
    const told = await usersTold(cluster, { accept: 'application/json' }, named);
    expect(told).toContain('CommonName of client sending a request against gateway');
    expect(await usersTold(cluster, {}, nameless)).toContain('user name is empty');
    expect(await cluster.admin({ login: ROOT }).users.list()).toEqual(['root']);
  });

  test('over gRPC a snapshot is given to root alone, who logs in', async () => {
    const { signal } = new AbortController();
    const { endpoint } = cluster.placeOf(0);
    await expect(cluster.admin().at(endpoint).snapshot(signal)).rejects.toMatchObject({
      reason: 'NO_LOGIN',
      message: expect.stringContaining('(/etcdserverpb.Maintenance/Snapshot at https:'),
    });
    const hash = new TrailedHash();
    const pieces = await cluster.admin({ login: ROOT }).at(endpoint).snapshot(signal);
    for await (const { blob } of pieces) hash.update(blob);
    expect(hash.checked()).toHaveLength(64);
  });

  test('a user without a password is one by certificate alone', async () => {
    const { users, auth } = cluster.admin({ login: ROOT });
    await users.addWithoutPassword('app');
    const refused = { reason: 'NO_PASSWORD', isInDoubt: false };
    await expect(auth.checkLogin({ user: 'app', password: 'x' })).rejects.toMatchObject(refused);
  });

  test('a learner takes no login, and answers whoever logged in elsewhere', async () => {
    const place = await cluster.place();
    const add = async (): Promise<boolean> => {
      try {
        await cluster.admin({ login: ROOT }).members.addLearner([place.peerUrl]);
        return true;
      } catch (error) {
        if (isEtcdFailure(error, 'UNHEALTHY')) return false;
        throw error;
      }
    };
    await expect.poll(add).toBe(true);
    await cluster.run(place, [cluster.placeOf(0), place], 'existing');
    const late = cluster.admin({ login: ROOT });
    expect((await late.at(place.endpoint).status()).isLearner).toBe(true);
    const refused = { reason: 'NO_LOGIN' };
    await expect(cluster.admin().at(place.endpoint).status()).rejects.toMatchObject(refused);
  });
});

test('a member’s own common name is the user of whoever accepts nothing', async () => {
  const cluster = await startMember('etcd', 'root');
  try {
    await turnOn(cluster);
    expect(await usersTold(cluster, {}, nameless)).toContain('"users":["root"]');
    const refused = { reason: 'NO_LOGIN' };
    await expect(cluster.admin().users.list()).rejects.toMatchObject(refused);
  } finally {
    await cluster.stop();
  }
});
