// A confirmed plan that gives the data of an etcd 3.3.27 up, by a function that dies before and
// after each of its writes: rolled back all is as it was; carried out clients write to an empty
// cluster, and old claims are there without an owner. The same where no member answers any more.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { LEGACY_ETCDS, TAKEOVERS, type TakeoverStatus } from '../../../shared/api/takeover.ts';
import { CLAIMS, PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { JoinPlace, OLD } from './join-place.ts';
import { expectTakenOver } from './mortal-place.ts';
import { alive, deaths } from './mortal-takeover.ts';
import { namespace } from './old-side.ts';

const LONG_MS = 600_000;
const WIPE = { mode: 'Wipe', wipe: 'old' };
const LONG = { timeout: 60_000 };
const CHANGES = [
  'patch deployments',
  'create etcdclusters',
  'patch services',
  'patch persistentvolumeclaims',
  'delete etcdclusters',
  'apply takeovers',
];

let place: JoinPlace;

function around(into: readonly string[]): void {
  beforeAll(async () => {
    place = await JoinPlace.start(into);
  }, LONG_MS);

  afterAll(() => place?.stop(), LONG_MS);
}

const isAt =
  (step: string) =>
  ({ steps }: TakeoverStatus): boolean =>
    steps?.at(-1)?.name === step;

/** Those of the old cluster, each with its owner. */
async function oldClaims() {
  const { items } = await place.kube.list(CLAIMS, { namespace });
  return items
    .map(({ metadata: { name, uid, ownerReferences } }) => ({ name, uid, ownerReferences }))
    .filter(({ name }) => OLD.includes(name));
}

/** The value of a key, as a client of the Service reads it. */
async function read(key: string): Promise<string | undefined> {
  const admin = (await place.opened())();
  const { found } = await admin.keys.get(key);
  await admin.close();
  return found?.value.toString();
}

async function write(key: string, value: string): Promise<void> {
  const admin = (await place.opened())();
  await admin.keys.put(key, value);
  await admin.close();
}

/** Nothing of the old cluster is left but its claims, and these belong to nobody. */
async function expectWiped(into: string, before: readonly { readonly uid: string }[]) {
  expect(await place.service()).toEqual({
    selector: { 'ballast.dev/etcd-cluster': into },
    owners: undefined,
  });
  expect(await place.replicasOf('etcd-operator')).toBe(0);
  await expect.poll(() => place.namesOf(LEGACY_ETCDS), LONG).toEqual([]);
  await expect
    .poll(() => place.namesOf(SERVICES), LONG)
    .toEqual([into, `${into}-headless`, 'old-client']);
  const isOld = async () => (await place.namesOf(PODS)).filter((name) => OLD.includes(name));
  await expect.poll(isOld, LONG).toEqual([]);
  expect(await oldClaims()).toEqual(
    before.map((claim) => ({ ...claim, ownerReferences: undefined })),
  );
  expect(await read('a')).toBeUndefined();
  await write('b', 'after it');
  expect(await read('b')).toBe('after it');
}

describe('of members that answer', () => {
  around(['next-1', 'next-2', 'next-3']);

  test('where its name was not granted nothing can be confirmed', async () => {
    await place.startTakeover(alive);
    const refused = place.confirm('bold', 'next-9', WIPE);
    await expect(refused).rejects.toThrow(/--into next-9.*EtcdClusterForbidden/);
    const found = await place.kube.get(TAKEOVERS, { namespace, name: 'bold' });
    if (found === null) throw new Error('there is no Takeover');
    const { uid, resourceVersion } = found.metadata;
    await place.kube.delete(TAKEOVERS, { namespace, name: 'bold' }, { uid, resourceVersion });
  });

  test.each<[string, string, (status: TakeoverStatus) => boolean]>([
    ['when its operator is stopped', 'next-1', isAt('StopOperator')],
    ['when the new cluster is born', 'next-2', ({ work }) => work?.newClusterId !== undefined],
  ])('rolled back %s, all is as it was', { timeout: LONG_MS }, async (_, into, isTime) => {
    await write(into, 'of before');
    const before = [await place.service(), await place.namesOf(PODS), await oldClaims()];
    await place.startTakeover(alive);
    await place.confirm(into, into, WIPE);
    const told = deaths();
    await place.startTakeover(told.witness);
    await place.wakeUntil(into, 'it to come so far', isTime, place.followed(told));
    await place.edit(into, { rollback: true });
    const isBack = ({ phase }: TakeoverStatus) => phase === 'RolledBack';
    await place.wakeUntil(into, 'it to be rolled back', isBack, place.followed(told));
    expect(await place.namesOf(ETCD_CLUSTERS)).toEqual([]);
    expect(await place.namesOf(CLAIMS)).toEqual(['old-b', 'old-c']);
    expect([await place.service(), await place.namesOf(PODS), await oldClaims()]).toEqual(before);
    expect(await place.replicasOf('etcd-operator')).toBe(1);
    expect(await read(into)).toBe('of before');
  });

  test('carried out with a death at each write', { timeout: LONG_MS }, async () => {
    const before = await oldClaims();
    await place.startTakeover(alive);
    const id = await place.confirm('over', 'next-3', WIPE);
    const { plan } = await place.status('over');
    const reasons = plan?.notes.map(({ reason }) => reason);
    expect(reasons).toEqual(expect.arrayContaining(['DataLost', 'DataCouldBeKept']));
    const told = deaths();
    await place.wakeUntilDone('over', told);
    await expectTakenOver(place, 'over', id, told, CHANGES);
    await expectWiped('next-3', before);
    await expect(place.edit('over', { rollback: true })).rejects.toThrow('nothing leads back any');
  });
});

describe('of members of which none answers', () => {
  around(['next-1']);

  test('carried out with a death at each write', { timeout: LONG_MS }, async () => {
    await write('a', 'of before');
    await place.killOld();
    const before = await oldClaims();
    await place.startTakeover(alive);
    const id = await place.confirm('over', 'next-1', WIPE);
    const { plan, members } = await place.status('over');
    expect(members?.map(({ silent }) => silent !== undefined)).toEqual([true, true, true]);
    const reasons = plan?.notes.map(({ reason }) => reason);
    expect(reasons).toContain('DataLost');
    expect(reasons).not.toContain('DataCouldBeKept');
    const told = deaths();
    await place.wakeUntilDone('over', told);
    await expectTakenOver(place, 'over', id, told, CHANGES);
    await expectWiped('next-1', before);
  });
});
