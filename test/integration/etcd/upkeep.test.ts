// Keys, alarms, hashes, leadership and downgrades of a real cluster with little room, as an
// operator keeps it up.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EtcdAlarm } from '../../../shared/etcd/admin/alarms.ts';
import type { EtcdMemberAdmin } from '../../../shared/etcd/admin.ts';
import { EtcdCluster } from './cluster.ts';

let cluster: EtcdCluster;

const QUOTA_BYTES = 16 * 2 ** 20;
const MEMBERS = [0, 1, 2];
const NOT_DONE = { isInDoubt: false };

beforeAll(async () => {
  const flags = [
    `--quota-backend-bytes=${QUOTA_BYTES}`,
    '--heartbeat-interval=50',
    '--election-timeout=500',
  ];
  cluster = await EtcdCluster.start(3, { flags });
});

afterAll(async () => {
  await cluster?.stop();
});

const each = (): readonly EtcdMemberAdmin[] => MEMBERS.map((index) => cluster.at(index));

test('a key is put, read, swapped and deleted, each only as it was expected to be', async () => {
  const { keys } = cluster.admin();
  expect((await keys.get('probe')).found).toBeUndefined();
  const put = await keys.put('probe', 'one');
  expect((await keys.get('probe')).found).toEqual({
    value: Buffer.from('one'),
    createRevision: put.revision,
    modRevision: put.revision,
  });
  expect(await keys.swap('probe', { modRevision: '0' }, 'two')).toMatchObject({ isDone: false });
  expect(await keys.swap('probe', { value: 'two' }, 'three')).toMatchObject({ isDone: false });
  expect(await keys.swap('probe', { value: 'one' }, 'two')).toMatchObject({ isDone: true });
  const { found } = await keys.get('probe', { isSerializable: true });
  expect(found?.value.toString()).toBe('two');
  const { modRevision = '' } = found ?? {};
  expect(await keys.swap('probe', { modRevision }, undefined)).toMatchObject({ isDone: true });
  expect(await keys.delete('probe')).toMatchObject({ isDone: false });
  expect(await keys.swap('probe', { modRevision: '0' }, '')).toMatchObject({ isDone: true });
  expect((await keys.get('probe')).found?.value).toEqual(Buffer.of());
  expect(await keys.delete('probe')).toMatchObject({ isDone: true });
});

test('keys are counted by prefix, and the parts of a path told apart', async () => {
  const { keys } = cluster.admin();
  const names = ['/a/x/1', '/a/x/2', '/a/y/1', '/a/ÿ/1', '/a/z', '/a/z/1', '/b'];
  for (const name of names) await keys.put(name, name);
  expect(await keys.count('/a/')).toBe(6);
  expect(await keys.count('')).toBe(7);
  expect(await keys.countParts('/a/', { partsMax: 9 })).toEqual({
    isWhole: true,
    parts: [
      { prefix: '/a/x/', keys: 2 },
      { prefix: '/a/y/', keys: 1 },
      { prefix: '/a/z', keys: 1 },
      { prefix: '/a/z/', keys: 1 },
      { prefix: '/a/ÿ/', keys: 1 },
    ],
  });
  const first = { isWhole: false, parts: [{ prefix: '/', keys: 7 }] };
  expect(await keys.countParts('', { partsMax: 1 })).toEqual({ ...first, isWhole: true });
  expect(await keys.countParts('/a/', { partsMax: 1 })).toMatchObject({ isWhole: false });
  expect(await keys.sampleBytes('/a/x/')).toBe(2 * '/a/x/1'.length);
  expect(await keys.sampleBytes('/c/')).toBe(0);
  const large = ['/l/1', '/l/2', '/l/3', '/l/4'];
  for (const name of large) await keys.put(name, Buffer.alloc(2 ** 20));
  expect(await keys.sampleBytes('/l/')).toBe('/l/1'.length + 2 ** 20);
  for (const name of large) await keys.delete(name);
});

test('hashes of all members agree at a revision that is neither past nor to come', async () => {
  const { keys } = cluster.admin();
  const { revision = '' } = await keys.put('probe', 'hash');
  // A member that has not come so far says that the revision is to come.
  const behind = async (): Promise<boolean> => {
    const statuses = await Promise.all(each().map((member) => member.status()));
    return statuses.some(({ header }) => BigInt(header.revision) < BigInt(revision));
  };
  await expect.poll(behind).toBe(false);
  const hashes = await Promise.all(each().map((member) => member.hashKv(revision)));
  expect(new Set(hashes.map(({ hash }) => hash)).size).toBe(1);
  expect(hashes[0]).toMatchObject({ compactRevision: '0', hash: expect.any(Number) });
  expect(new Set(hashes.map(({ header }) => header.memberId)).size).toBe(3);
  expect((await cluster.at(0).hash()).hash).toBeGreaterThan(0);
  await keys.compact(revision, { isPhysical: true });
  expect(await keys.isForgotten(revision)).toBe(false);
  expect(await keys.isForgotten(String(BigInt(revision) - 1n))).toBe(true);
  const again = { code: 'ETCD_COMPACTED', reason: 'COMPACTED', ...NOT_DONE };
  await expect(keys.compact(revision)).rejects.toMatchObject(again);
  const past = cluster.at(0).hashKv('1');
  await expect(past).rejects.toMatchObject({ code: 'ETCD_COMPACTED', reason: 'COMPACTED' });
  const early = { code: 'ETCD_REFUSED', reason: 'FUTURE_REVISION', ...NOT_DONE };
  await expect(cluster.at(0).hashKv('999999999')).rejects.toMatchObject(early);
  expect((await cluster.at(0).hashKv('0')).compactRevision).toBe(revision);
});

test('a full database refuses to grow until it is compacted, defragmented, disarmed', async () => {
  const { keys, alarms } = cluster.admin();
  const full = { code: 'ETCD_REFUSED', reason: 'NOSPACE', ...NOT_DONE };
  const fill = async (): Promise<void> => {
    for (;;) await keys.put('large', Buffer.alloc(2 ** 20, 'x'));
  };
  await expect(fill()).rejects.toMatchObject(full);
  // Each member raises its own, one after the other, and they are told in any order.
  const idsOf = (some: readonly EtcdAlarm[]): string =>
    some
      .map(({ memberId }) => memberId)
      .toSorted()
      .join();
  const isAgreed = async (): Promise<boolean> =>
    idsOf((await cluster.at(0).status()).alarms) === idsOf(await alarms.list());
  await expect.poll(isAgreed).toBe(true);
  expect((await alarms.list()).map(({ type }) => type)).toContain('NOSPACE');
  const { revision = '' } = (await keys.get('large')).header;
  await keys.compact(revision, { isPhysical: true });
  for (const member of each()) {
    await member.defragment({ timeoutMs: 20_000 });
    const { dbSizeBytes, quotaBytes = QUOTA_BYTES } = await member.status();
    expect(quotaBytes).toBe(QUOTA_BYTES);
    expect(dbSizeBytes).toBeLessThan(QUOTA_BYTES / 4);
  }
  for (const { memberId, type } of await alarms.list()) {
    if (type === 'OTHER') throw new Error('an alarm that nobody knows');
    expect(await alarms.disarm({ memberId, type })).toEqual([{ memberId, type }]);
    expect(await alarms.disarm({ memberId, type })).toEqual([]);
  }
  expect(await alarms.list()).toEqual([]);
  await keys.put('large', 'small');
});

test('a cluster that is called corrupt is only read until that is taken back', async () => {
  const { keys, alarms } = cluster.admin();
  const { memberId } = (await cluster.at(0).status()).header;
  const raised = await fetch(`${cluster.placeOf(0).endpoint.url}/v3/maintenance/alarm`, {
    method: 'POST',
    body: JSON.stringify({ action: 'ACTIVATE', memberID: memberId, alarm: 'CORRUPT' }),
  });
  expect(raised.status).toBe(200);
  const corrupt = { code: 'ETCD_REFUSED', reason: 'CORRUPT', ...NOT_DONE };
  await expect(keys.put('probe', 'corrupt')).rejects.toMatchObject(corrupt);
  expect((await keys.get('probe')).found).toBeDefined();
  expect((await cluster.at(1).status()).alarms).toEqual([{ memberId, type: 'CORRUPT' }]);
  expect(await alarms.disarm({ memberId, type: 'CORRUPT' })).toHaveLength(1);
  await keys.put('probe', 'well');
});

test('the leader hands over when it is asked, and nobody else does', async () => {
  const index = await cluster.leader();
  const follower = MEMBERS.find((other) => other !== index) ?? 0;
  const { memberId } = (await cluster.at(follower).status()).header;
  const other = { code: 'ETCD_REFUSED', reason: 'NOT_LEADER', ...NOT_DONE };
  await expect(cluster.at(follower).moveLeader(memberId)).rejects.toMatchObject(other);
  const nobody = { code: 'ETCD_REFUSED', reason: 'BAD_TRANSFEREE', ...NOT_DONE };
  await expect(cluster.at(index).moveLeader('8')).rejects.toMatchObject(nobody);
  await cluster.at(index).moveLeader(memberId);
  expect(await cluster.leader()).toBe(follower);
});

test('a downgrade goes one minor down, once, and can be taken back', async () => {
  const { downgrade } = cluster.admin();
  const [, minor = ''] = (await cluster.at(0).status()).version.split('.');
  const target = `3.${Number(minor) - 1}`;
  expect(await downgrade.validate(target)).toMatch(new RegExp(`^3.${minor}(.0)?$`));
  const far = { reason: 'DOWNGRADE_TARGET', code: 'ETCD_REFUSED', ...NOT_DONE };
  await expect(downgrade.validate(`3.${Number(minor) - 2}`)).rejects.toMatchObject(far);
  await expect(downgrade.enable('latest')).rejects.toMatchObject(far);
  await downgrade.enable(target);
  await expect
    .poll(async () => (await cluster.at(0).status()).downgradeTo)
    .toMatch(new RegExp(`^${target}\\.0$`));
  const twice = { reason: 'DOWNGRADE_UNDERWAY', code: 'ETCD_REFUSED', ...NOT_DONE };
  await expect(downgrade.enable(target)).rejects.toMatchObject(twice);
  await downgrade.cancel();
  await expect.poll(async () => (await cluster.at(0).status()).downgradeTo).toBeUndefined();
});

test('a put that etcd itself gives up on is in doubt, a read is not', async () => {
  await cluster.part(1).kill();
  await cluster.part(2).kill();
  const { keys } = cluster.at(0);
  const put = keys.put('probe', 'doubt', { timeoutMs: 20_000 });
  const [doubt, read] = await Promise.all([
    put.catch((error: unknown) => error),
    keys.get('probe', { timeoutMs: 20_000 }).catch((error: unknown) => error),
  ]);
  expect(doubt).toMatchObject({ code: 'ETCD_IN_DOUBT', reason: 'TIMEOUT', isInDoubt: true });
  expect(read).toMatchObject({ code: 'ETCD_UNAVAILABLE', isInDoubt: false });
  expect((await keys.get('probe', { isSerializable: true })).found?.value.toString()).toBe('well');
});
