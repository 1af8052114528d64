// A confirmed plan on a real NATS of 2.14 of Helm's chart, and 50 clients that publish and
// subscribe all the time: rolled back before the first old server leaves it serves as before;
// carried out by a function that dies before and after each of its writes nothing is lost but what
// a client was away for, and Helm takes away what is left without the Service of the clients.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { PODS, SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { until } from '../../builders/versioned-kind.ts';
import type { CoreTraffic } from '../nats-cluster/core-traffic.ts';
import { ChartTakeoverPlace, OLD } from './chart-place.ts';
import { expectTakenOver } from './mortal-place.ts';
import { alive, deaths, type Witness } from './mortal-takeover.ts';
import { CLIENTS, LOGIN, namespace } from './routed-place.ts';

const LONG_MS = 600_000;
/** Messages of each while nothing is done, so that two who do not hear each other are noticed. */
const SOME = 20;
/** Clients that come to the new servers before it is rolled back. */
const SHARED = 10;

let place: ChartTakeoverPlace;
let traffic: CoreTraffic;

beforeAll(async () => {
  place = await ChartTakeoverPlace.start();
  traffic = await place.startTraffic();
}, LONG_MS);

afterAll(async () => {
  await traffic?.close();
  await place?.stop();
}, LONG_MS);

const namesOf = (ref: ResourceRef) => place.namesOf(ref);
const serviceOf = async () => {
  const found = await place.kube.get(SERVICES, { namespace, name: 'old' });
  const { selector, ports } = Object(found?.['spec']);
  return { selector, ports, labels: found?.metadata.labels };
};
type Service = Awaited<ReturnType<typeof serviceOf>>;
const isLed = async (): Promise<boolean> =>
  Object.hasOwn((await serviceOf()).selector, 'ballast.dev/nats-cluster');

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

/** Helm 3 writes what the chart says beside what is there, and the Service leads to nobody. */
const upgradeTo =
  ({ selector, ports, labels }: Service) =>
  async (): Promise<boolean> => {
    if (!(await isLed())) return false;
    const body = { metadata: { labels }, spec: { selector, ports } };
    await place.kube.patch(SERVICES, { namespace, name: 'old' }, { type: 'merge', body });
    return true;
  };

test.each([
  ['JoinRoutes', '', () => undefined],
  ['SwitchService', '', () => isLed],
  ['SwitchService', ' once Helm 3 has upgraded the chart', upgradeTo],
  ['MoveClients', ' with clients of both', () => isShared],
] as const)(
  'rolled back at %s%s, the old servers serve as before',
  { timeout: LONG_MS },
  async (step, _, timeOf) => {
    const at = (await namesOf({ ...NATS_CLUSTERS, resource: 'takeovers' })).length;
    const [name, before] = [`back-${at}`, await serviceOf()];
    await place.startTakeover(backAt(name, step, timeOf(before)));
    await place.confirm(name, `next-${at}`);
    await place.wakeUntil(name, 'it to be rolled back', ({ phase }) => phase === 'RolledBack');
    const { steps, work } = await place.status(name);
    expect([steps?.at(-1)?.name, work?.switchingAt]).toEqual([step, undefined]);
    expect(await serviceOf()).toEqual(before);
    expect(await namesOf(NATS_CLUSTERS)).toEqual([]);
    const long = { timeout: 60_000 };
    await expect.poll(() => namesOf(STATEFUL_SETS), long).toEqual(['old']);
    await expect.poll(() => namesOf(PODS), long).toEqual(OLD.map((one) => one.name));
    await traffic.goesOn(SOME);
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
    const told = deaths();
    await place.startTakeover(alive);
    const id = await place.confirm('over', 'next-4');
    await place.wakeUntilDone('over', told);
    await expectTakenOver(place, 'over', id, told, CHANGES);
    await traffic.goesOn(SOME);
    // Helm knows the release still, and not whose that Service is.
    expect(await place.helm('uninstall', 'old')).toBe('');
    await traffic.goesOn(SOME);
    const report = await traffic.report();
    expect(report).toMatchObject({ unexplained: 0 });
    expect(report.reconnects).toBeGreaterThanOrEqual(CLIENTS);
    expect(report.lost).toBeLessThan(report.sent / 10);
    expect(JSON.stringify(await place.status('over'))).not.toContain(LOGIN.pass);
  },
);

test(
  'nothing of the old servers is left but the Service of the clients',
  { timeout: LONG_MS },
  async () => {
    const { selector, ports, labels } = await serviceOf();
    expect(selector).toEqual({ 'ballast.dev/nats-cluster': 'next-4' });
    expect(ports).toMatchObject([{ name: 'nats', port: 4222, targetPort: 4222 }]);
    expect(labels).not.toHaveProperty(['app.kubernetes.io/managed-by']);
    const long = { timeout: 60_000 };
    await expect.poll(() => namesOf(STATEFUL_SETS), long).toEqual(['next-4']);
    expect(await namesOf(SERVICES)).toEqual(['next-4', 'next-4-headless', 'old']);
    // There and back each right was used that is about a chart, and none was missing.
    const { lacking, refused, unused } = await place.misfits();
    expect([lacking, refused]).toEqual([[], []]);
    const ofChart = /statefulsets|configmaps|ballast.dev\/nats|: \w+ \/(?:services|secrets)/;
    expect(unused.filter((right) => ofChart.test(right))).toEqual([]);
  },
);
