// A confirmed plan on a real NATS of 2.1.9 with logins and TLS, and 50 clients that publish and
// subscribe all the time: rolled back from each step before the first old server leaves it serves
// as before; carried out by a function that dies before and after each of its writes nothing is
// lost but what a client was away for.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { LEGACY_NATS } from '../../../shared/api/takeover.ts';
import { SECRETS, SERVICES } from '../../../shared/stateful/parts.ts';
import { NatsTakeoverPlace } from './nats-place.ts';
import { namespace } from './routed-place.ts';
import {
  atOnce,
  expectCarriedOut,
  expectHeard,
  expectRightsUsed,
  expectRolledBack,
  isLed,
  isShared,
  LONG,
  serviceOf,
} from './routed-scene.ts';

const LONG_MS = 600_000;

let place: NatsTakeoverPlace;

beforeAll(async () => {
  place = await NatsTakeoverPlace.start();
}, LONG_MS);

afterAll(() => place?.stop(), LONG_MS);

const operators = () => place.replicasOf('nats-operator');

test.each([
  ['StopOperator', '', atOnce],
  ['MakeCluster', '', atOnce],
  ['JoinRoutes', '', atOnce],
  ['SwitchService', '', atOnce],
  ['SwitchService', ' once clients are led over', isLed],
  ['MoveClients', ' with clients of both', isShared],
] as const)(
  'rolled back at %s%s, the old servers serve as before',
  { timeout: LONG_MS },
  async (step, _, isTime) => {
    await expectRolledBack(place, step, isTime);
    expect(await operators()).toBe(1);
    expect(await place.namesOf(LEGACY_NATS)).toEqual(['old']);
    await expect.poll(() => place.namesOf(SECRETS), LONG).toEqual(['new-tls', 'old']);
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
    await expectCarriedOut(place, 'next-7', CHANGES);
    await expectHeard(place);
    const rollback = place.edit('over', { rollback: true });
    await expect(rollback).rejects.toThrow('nothing leads back any');
  },
);

test('nothing of the old servers is left but what is said', { timeout: LONG_MS }, async () => {
  const { selector, owners } = await serviceOf(place);
  expect([selector, owners]).toEqual([{ 'ballast.dev/nats-cluster': 'next-7' }, undefined]);
  expect(await operators()).toBe(0);
  await expect.poll(() => place.namesOf(LEGACY_NATS), LONG).toEqual([]);
  const services = ['next-7', 'next-7-headless', 'old'];
  await expect.poll(() => place.namesOf(SERVICES), LONG).toEqual(services);
  await expect.poll(() => place.namesOf(SECRETS), LONG).not.toContain('old');
  const [cluster] = (await place.kube.list(NATS_CLUSTERS, { namespace })).items;
  expect(Object(cluster?.['spec'])).not.toHaveProperty('extraRoutes');
  await expectRightsUsed(place, /nats|: \w+ \/(?:pods|services|secrets)|deployments/);
});
