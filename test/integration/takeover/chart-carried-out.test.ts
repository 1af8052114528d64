// A confirmed plan on a real NATS of 2.14 of Helm's chart, and 50 clients that publish and
// subscribe all the time: rolled back before the first old server leaves it serves as before;
// carried out by a function that dies before and after each of its writes nothing is lost but what
// a client was away for, and Helm takes away what is left without the Service of the clients.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { ChartTakeoverPlace } from './chart-place.ts';
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
  type Time,
} from './routed-scene.ts';

const LONG_MS = 600_000;

let place: ChartTakeoverPlace;

beforeAll(async () => {
  place = await ChartTakeoverPlace.start();
}, LONG_MS);

afterAll(() => place?.stop(), LONG_MS);

/** Helm 3 writes what the chart says beside what is there, and the Service leads to nobody. */
const isUpgraded: Time = async (of, before) => {
  if (!(await isLed(of, before))) return false;
  const { selector, ports, labels } = before;
  const body = { metadata: { labels }, spec: { selector, ports } };
  await of.kube.patch(SERVICES, { namespace, name: 'old' }, { type: 'merge', body });
  return true;
};

test.each([
  ['JoinRoutes', '', atOnce],
  ['SwitchService', '', isLed],
  ['SwitchService', ' once Helm 3 has upgraded the chart', isUpgraded],
  ['MoveClients', ' with clients of both', isShared],
] as const)(
  'rolled back at %s%s, the old servers serve as before',
  { timeout: LONG_MS },
  async (step, _, isTime) => {
    await expectRolledBack(place, step, isTime);
    await expect.poll(() => place.namesOf(STATEFUL_SETS), LONG).toEqual(['old']);
  },
);

const CHANGES = [
  'create natsclusters',
  'create secrets',
  'patch natsclusters',
  'patch services',
  'patch statefulsets',
  'delete statefulsets',
  'apply takeovers',
];

test(
  'carried out with a death at each write, none that is connected is unheard',
  { timeout: LONG_MS },
  async () => {
    await expectCarriedOut(place, 'next-4', CHANGES);
    // Helm knows the release still, and not whose that Service is.
    expect(await place.helm('uninstall', 'old')).toBe('');
    await expectHeard(place);
  },
);

test(
  'nothing of the old servers is left but the Service of the clients',
  { timeout: LONG_MS },
  async () => {
    const { selector, ports, labels } = await serviceOf(place);
    expect(selector).toEqual({ 'ballast.dev/nats-cluster': 'next-4' });
    expect(ports).toMatchObject([{ name: 'nats', port: 4222, targetPort: 4222 }]);
    expect(labels).not.toHaveProperty(['app.kubernetes.io/managed-by']);
    await expect.poll(() => place.namesOf(STATEFUL_SETS), LONG).toEqual(['next-4']);
    expect(await place.namesOf(SERVICES)).toEqual(['next-4', 'next-4-headless', 'old']);
    await expectRightsUsed(
      place,
      /statefulsets|configmaps|ballast.dev\/nats|: \w+ \/(?:services|secrets)/,
    );
  },
);
