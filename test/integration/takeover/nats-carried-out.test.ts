// A confirmed plan on a real NATS of 2.1.9 with logins and TLS, and 50 clients that publish and
// subscribe all the time: rolled back from each step before the first old server leaves it serves
// as before; carried out by a function that dies before and after each of its writes nothing is
// lost but what a client was away for.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { LEGACY_NATS } from '../../../shared/api/takeover.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { PODS, SECRETS, SERVICES } from '../../../shared/stateful/parts.ts';
import { until } from '../../builders/versioned-kind.ts';
import type { CoreTraffic } from '../nats-cluster/core-traffic.ts';
import { expectTakenOver } from './mortal-place.ts';
import { alive, deaths, type Witness } from './mortal-takeover.ts';
import { NatsTakeoverPlace, OLD } from './nats-place.ts';
import { CLIENTS, LOGIN, namespace } from './routed-place.ts';

const LONG_MS = 600_000;
/** Messages of each while nothing is done, so that two who do not hear each other are noticed. */
const SOME = 20;
/** Clients that come to the new servers before it is rolled back. */
const SHARED = 10;

let place: NatsTakeoverPlace;
let traffic: CoreTraffic;

beforeAll(async () => {
  place = await NatsTakeoverPlace.start();
  traffic = await place.startTraffic();
}, LONG_MS);

afterAll(async () => {
  await traffic?.close();
  await place?.stop();
}, LONG_MS);

const namesOf = (ref: ResourceRef) => place.namesOf(ref);
const serviceOf = async () => {
  const found = await place.place.kube.get(SERVICES, { namespace, name: 'old' });
  const { selector } = Object(found?.['spec']);
  return { selector, owners: found?.metadata.ownerReferences };
};
const replicasOf = () => place.replicasOf('nats-operator');

/** Asks for a rollback once, as soon as a write after the beginning of this step is about to be. */
function backAt(name: string, step: string, isTime = async () => true): Witness {
  let isAsked = false;
  return async (when) => {
    if (isAsked || when === 'after') return;
    const { steps } = await place.status(name);
    if (steps?.at(-1)?.name !== step || !(await isTime())) return;
    isAsked = true;
    await place.edit(name, { rollback: true });
  };
}

const isLed = async (): Promise<boolean> =>
  Object.hasOwn((await serviceOf()).selector, 'ballast.dev/nats-cluster');

/** Some clients are on the new servers by then, and the others on the old ones. */
async function isShared(): Promise<boolean> {
  if (!(await isLed())) return false;
  const [into = ''] = await namesOf(NATS_CLUSTERS);
  await until('clients on the new servers', async () => {
    await traffic.reconnect(SHARED);
    return (await place.clientsOf(into)) >= SHARED;
  });
  return true;
}

test.each([
  ['StopOperator', undefined],
  ['MakeCluster', undefined],
  ['JoinRoutes', undefined],
  ['SwitchService', undefined],
  ['SwitchService', isLed],
  ['MoveClients', isShared],
] as const)(
  'rolled back at %s, the old servers serve as before',
  { timeout: LONG_MS },
  async (step, isTime) => {
    const at = (await namesOf({ ...NATS_CLUSTERS, resource: 'takeovers' })).length;
    const [name, before] = [`back-${at}`, await serviceOf()];
    await place.startTakeover(backAt(name, step, isTime));
    await place.confirm(name, `next-${at}`);
    await place.wakeUntil(name, 'it to be rolled back', ({ phase }) => phase === 'RolledBack');
    const { steps, work } = await place.status(name);
    expect([steps?.at(-1)?.name, work?.switchingAt]).toEqual([step, undefined]);
    expect([await serviceOf(), await replicasOf()]).toEqual([before, 1]);
    expect(await namesOf(NATS_CLUSTERS)).toEqual([]);
    expect(await namesOf(LEGACY_NATS)).toEqual(['old']);
    const long = { timeout: 60_000 };
    await expect.poll(() => namesOf(PODS), long).toEqual(OLD.map((one) => one.name));
    await expect.poll(() => namesOf(SECRETS), long).toEqual(['new-tls', 'old']);
    await traffic.goesOn(SOME);
  },
);

const CHANGES = [
  'patch deployments',
  'create natsclusters',
  'create secrets',
  'patch natsclusters',
  'patch services',
  'delete pods',
  'delete natsclusters',
  'apply takeovers',
];

test(
  'carried out with a death at each write, none that is connected is unheard',
  { timeout: LONG_MS },
  async () => {
    const told = deaths();
    await place.startTakeover(alive);
    const id = await place.confirm('over', 'next-7');
    await place.wakeUntilDone('over', told);
    await expectTakenOver(place, 'over', id, told, CHANGES);
    await traffic.goesOn(SOME);
    const report = await traffic.report();
    expect(report).toMatchObject({ unexplained: 0 });
    expect(report.reconnects).toBeGreaterThanOrEqual(CLIENTS);
    expect(report.lost).toBeLessThan(report.sent / 10);
    const text = JSON.stringify(await place.status('over'));
    expect(text).not.toContain(LOGIN.pass);
    await expect(place.edit('over', { rollback: true })).rejects.toThrow('nothing leads back any');
  },
);

test('nothing of the old servers is left but what is said', { timeout: LONG_MS }, async () => {
  expect(await serviceOf()).toEqual({
    selector: { 'ballast.dev/nats-cluster': 'next-7' },
    owners: undefined,
  });
  expect(await replicasOf()).toBe(0);
  const long = { timeout: 60_000 };
  await expect.poll(() => namesOf(LEGACY_NATS), long).toEqual([]);
  const services = ['next-7', 'next-7-headless', 'old'];
  await expect.poll(() => namesOf(SERVICES), long).toEqual(services);
  await expect.poll(() => namesOf(SECRETS), long).not.toContain('old');
  const [cluster] = (await place.place.kube.list(NATS_CLUSTERS, { namespace })).items;
  expect(Object(cluster?.['spec'])).not.toHaveProperty('extraRoutes');
  // There and back each right was used that is about NATS, and none was missing.
  const { lacking, refused, unused } = await place.misfits();
  expect([lacking, refused]).toEqual([[], []]);
  const ofNats = /nats|: \w+ \/(?:pods|services|secrets)|deployments/;
  expect(unused.filter((right) => ofNats.test(right))).toEqual([]);
});
