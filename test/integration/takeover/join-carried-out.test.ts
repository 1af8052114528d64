// A confirmed plan in which members of 3.5 join three of 3.3.27, with two writers and two readers
// on the Service: rolled back when clients were led over the old ones serve as before; carried out
// by a function that dies before and after each of its writes and changes of members, what they saw
// is the history of one store.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { LEGACY_ETCDS } from '../../../shared/api/takeover.ts';
import { askLegacy } from '../../../shared/etcd/legacy.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { CLAIMS, SERVICES } from '../../../shared/stateful/parts.ts';
import { EtcdTraffic } from '../../builders/etcd-traffic.ts';
import { until } from '../../builders/versioned-kind.ts';
import { JoinPlace, OLD } from './join-place.ts';
import { expectTakenOver } from './mortal-place.ts';
import { alive, deaths, type Witness } from './mortal-takeover.ts';
import { namespace } from './old-side.ts';

const LONG_MS = 600_000;

let place: JoinPlace;

beforeAll(async () => {
  place = await JoinPlace.start(['next-1', 'next-2']);
}, LONG_MS);

afterAll(() => place?.stop(), LONG_MS);

const namesOf = (ref: ResourceRef) => place.namesOf(ref);
const replicasOf = () => place.replicasOf('etcd-operator');

/** Clients connect anew where the Service leads. */
const follows =
  (traffic: EtcdTraffic, next: Witness = alive): Witness =>
  async (when, write) => {
    if (when === 'after' && write === 'patch services') traffic.reopen(await place.opened());
    await next(when, write);
  };

test('rolled back once clients are led over', { timeout: LONG_MS }, async () => {
  const before = await place.service();
  await EtcdTraffic.during('members that join and leave', await place.opened(), async (traffic) => {
    let isAsked = false;
    const back: Witness = async (when, write) => {
      if (isAsked || when === 'before' || write !== 'patch services') return;
      isAsked = true;
      await traffic.untilItFlows();
      await place.edit('back', { rollback: true });
    };
    await place.startTakeover(follows(traffic, back));
    await place.confirm('back', 'next-1');
    await place.wakeUntil('back', 'it to be rolled back', ({ phase }) => phase === 'RolledBack');
  });
  const { steps, work } = await place.status('back');
  expect([steps?.at(-1)?.name, work?.switchingAt]).toEqual(['SwitchService', undefined]);
  expect([await place.service(), await replicasOf()]).toEqual([before, 1]);
  expect(await place.members(place.oldUrl)).toEqual(OLD);
  expect(await namesOf(ETCD_CLUSTERS)).toEqual([]);
  expect(await namesOf(CLAIMS)).toEqual(['old-b', 'old-c']);
});

const CHANGES = [
  'patch deployments',
  'etcd add',
  'create etcdclusters',
  'patch services',
  'etcd remove',
  'etcd move leader',
  'patch persistentvolumeclaims',
  'delete etcdclusters',
  'apply takeovers',
];

test('carried out with a death at each write', { timeout: LONG_MS }, async () => {
  await place.startTakeover(alive);
  const id = await place.confirm('over', 'next-2');
  const told = deaths();
  await EtcdTraffic.during('members that join and stay', await place.opened(), async (traffic) => {
    await place.wakeUntilDone('over', told, follows(traffic, told.witness));
  });
  await expectTakenOver(place, 'over', id, told, CHANGES);
  await expect(place.edit('over', { rollback: true })).rejects.toThrow('nothing leads back any');
});

test('nothing of the old members is left but their claims', { timeout: LONG_MS }, async () => {
  expect(await place.service()).toEqual({
    selector: { 'ballast.dev/etcd-cluster': 'next-2' },
    owners: undefined,
  });
  expect(await replicasOf()).toBe(0);
  const long = { timeout: 60_000 };
  await expect.poll(() => namesOf(LEGACY_ETCDS), long).toEqual([]);
  const services = ['next-2', 'next-2-headless', 'old-client'];
  await expect.poll(() => namesOf(SERVICES), long).toEqual(services);
  const { items } = await place.etcd.kube.list(CLAIMS, { namespace });
  const kept = items.filter(({ metadata }) => OLD.includes(metadata.name));
  expect(kept.map(({ metadata }) => metadata.ownerReferences)).toEqual([undefined, undefined]);
  const [pod] = await place.etcd.pods({ namespace, name: 'next-2' });
  const url = `http://${String(Object(pod?.['status']).podIP)}:2379`;
  await until('the members to be the new ones', async () => {
    const { members } = await askLegacy({ url }, undefined, { timeoutMs: 3_000 });
    return (
      members
        .map(({ name }) => name)
        .toSorted()
        .join(' ') === 'next-2-0 next-2-1 next-2-2'
    );
  });
});
