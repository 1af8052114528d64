// Members as operators that are gone left them: each tells who it is, whom it knows, whether a
// quorum stands, and whether it asks for logins.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { askLegacy } from '../../../shared/etcd/legacy.ts';
import { EtcdCluster } from './cluster.ts';

describe.each([
  { part: 'etcd-3-3', version: '3.3.27', root: '/v3beta', closed: { hasAuth: true }, v2: true },
  { part: 'etcd-3-4', version: '3.4.13', root: '/v3', closed: { hasAuth: true }, v2: false },
  // It tells strangers nothing.
  {
    part: 'etcd-previous',
    version: '3.5.35',
    root: '/v3',
    closed: { reason: 'NO_LOGIN' },
    v2: false,
  },
] as const)('$part', ({ part, version, root, closed, v2 }) => {
  let cluster: EtcdCluster;

  beforeAll(async () => {
    cluster = await EtcdCluster.start(3, {
      part,
      hasOldFlags: true,
      isReady: async (member, signal) => (await member.clusterVersion({ signal })) !== undefined,
    });
  });

  afterAll(async () => {
    await cluster?.stop();
  });

  const ask = (index: number) =>
    askLegacy(cluster.placeOf(index).endpoint, undefined, { timeoutMs: 3_000 });

  test('tells its version, its leader and its members', async () => {
    const { status, members, isQuorate, hasAuth } = await ask(0);
    expect({ version: status.version, isQuorate, hasAuth }).toEqual({
      version,
      isQuorate: true,
      hasAuth: false,
    });
    expect(members.map(({ name }) => name).toSorted()).toEqual([
      'member-0',
      'member-1',
      'member-2',
    ]);
    expect(members.map(({ id }) => id)).toContain(status.header.memberId);
    expect(status.leaderId).toEqual(expect.any(String));
    const others = await Promise.all([ask(1), ask(2)]);
    for (const other of others) {
      expect(other.status.header.clusterId).toBe(status.header.clusterId);
      expect(other.members.map(({ id }) => id).toSorted()).toEqual(
        members.map(({ id }) => id).toSorted(),
      );
    }
  });

  test('is spoken with as a newer one, and an alarm of ours stops every write', async () => {
    const { url } = cluster.placeOf(0).endpoint;
    const etcd = openEtcdAdmin({ endpoints: [url] });
    const alarm = { memberId: '4711', type: 'CORRUPT' } as const;
    await etcd.keys.put('a', '1');
    await etcd.keys.put('b', '2');
    expect(await etcd.alarms.raise(alarm)).toEqual([alarm]);
    await expect(etcd.keys.put('a', '3')).rejects.toThrow(/corrupt/i);
    await expect(etcd.keys.delete('a')).rejects.toThrow(/corrupt/i);
    const heads = await etcd.keys.heads({ from: Buffer.alloc(0), limit: 10 });
    expect(heads.map(({ key, version: times }) => [key.toString(), times])).toEqual([
      ['a', '1'],
      ['b', '1'],
    ]);
    const [second] = await etcd.keys.heads({ from: Buffer.from('a\0'), limit: 1 });
    expect(second?.key.toString()).toBe('b');
    expect(await etcd.alarms.disarm(alarm)).toEqual([alarm]);
    await etcd.keys.put('a', '3');
    await etcd.close();
  });

  test('tells whether it has keys of before version 3, and writes nothing for that', async () => {
    const { url } = cluster.placeOf(0).endpoint;
    expect((await ask(0)).hasV2Keys).toBe(false);
    const body = new URLSearchParams({ value: 'x' });
    const put = await fetch(`${url}/v2/keys/under/one`, { method: 'PUT', body });
    expect(put.status).toBe(v2 ? 201 : 404);
    await expect.poll(async () => (await ask(1)).hasV2Keys).toBe(v2);
    const { raftIndex } = (await ask(0)).status;
    expect((await ask(0)).status.raftIndex).toBe(raftIndex);
    if (v2) await fetch(`${url}/v2/keys/under?recursive=true`, { method: 'DELETE' });
    await expect.poll(async () => (await ask(1)).hasV2Keys).toBe(false);
  });

  test('without a quorum it tells so, and still who it is', { timeout: 60_000 }, async () => {
    await Promise.all([cluster.part(1).kill(), cluster.part(2).kill()]);
    await expect
      .poll(() => ask(0), { timeout: 30_000 })
      .toMatchObject({ status: { version }, isQuorate: false, hasAuth: false });
    await Promise.all([cluster.part(1).start(), cluster.part(2).start()]);
    await expect.poll(() => ask(0), { timeout: 30_000 }).toMatchObject({ isQuorate: true });
  });

  const change = async (path: string, body: object): Promise<void> => {
    const { url } = cluster.placeOf(0).endpoint;
    const request = { method: 'POST', body: JSON.stringify(body) };
    const { ok, status } = await fetch(`${url}${root}${path}`, request);
    expect([path, ok, status]).toEqual([path, true, 200]);
  };

  test('one that asks for logins tells so', async () => {
    await change('/auth/user/add', { name: 'root', password: 'for-root' });
    await change('/auth/role/add', { name: 'root' });
    await change('/auth/user/grant', { user: 'root', role: 'root' });
    await change('/auth/enable', {});
    const said = () => ask(0).catch((error: unknown) => error);
    await expect.poll(said).toMatchObject(closed);
  });
});
