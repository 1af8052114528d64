// A takeover of a NATS is held against the same, whoever made it: 50 clients publish and subscribe
// all the time. It is rolled back from a step, or is carried out by a function that dies before and
// after each of its writes.
import { expect } from 'vitest';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { TAKEOVERS } from '../../../shared/api/takeover.ts';
import { PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { until } from '../../builders/versioned-kind.ts';
import { expectTakenOver } from './mortal-place.ts';
import { alive, deaths, type Witness } from './mortal-takeover.ts';
import { CLIENTS, LOGIN, namespace, type RoutedPlace } from './routed-place.ts';

/** Messages of each while nothing is done, so that two who do not hear each other are noticed. */
const SOME = 20;
/** Clients that come to the new servers before it is rolled back. */
const SHARED = 10;
export const LONG = { timeout: 60_000 };

/** The Service of the clients, with what a takeover changes of it, and what a chart writes. */
export async function serviceOf(place: RoutedPlace) {
  const found = await place.kube.get(SERVICES, { namespace, name: 'old' });
  const { selector, ports } = Object(found?.['spec']);
  const { labels, ownerReferences: owners } = Object(found?.metadata);
  return { selector, ports, labels, owners };
}

/** Whether a rollback is asked for now; `before` is the Service as it was before the takeover. */
export type Time = (
  place: RoutedPlace,
  before: Awaited<ReturnType<typeof serviceOf>>,
) => Promise<boolean>;

export const atOnce: Time = async () => true;

export const isLed: Time = async (place) =>
  Object.hasOwn((await serviceOf(place)).selector, 'ballast.dev/nats-cluster');

/** Some clients are on the new servers by then, and the others on the old ones. */
export const isShared: Time = async (place, before) => {
  if (!(await isLed(place, before))) return false;
  const [into = ''] = await place.namesOf(NATS_CLUSTERS);
  await until('clients on the new servers', async () => {
    await place.traffic.reconnect(SHARED);
    return (await place.clientsOf(into)) >= SHARED;
  });
  return true;
};

/** Asks for a rollback once, as soon as a write after the beginning of this step is about to be. */
function backAt(
  place: RoutedPlace,
  name: string,
  step: string,
  isTime: () => Promise<boolean>,
): Witness {
  let isAsked = false;
  return async (when) => {
    if (isAsked || when === 'after') return;
    const { steps } = await place.status(name);
    if (steps?.at(-1)?.name !== step || !(await isTime())) return;
    isAsked = true;
    await place.edit(name, { rollback: true });
  };
}

/** The old servers serve as before, and nothing is left of the new ones. */
export async function expectRolledBack(
  place: RoutedPlace,
  step: string,
  isTime: Time,
): Promise<void> {
  const at = (await place.namesOf(TAKEOVERS)).length;
  const [name, before] = [`back-${at}`, await serviceOf(place)];
  await place.startTakeover(backAt(place, name, step, () => isTime(place, before)));
  await place.confirm(name, `next-${at}`);
  await place.wakeUntil(name, 'it to be rolled back', ({ phase }) => phase === 'RolledBack');
  const { steps, work } = await place.status(name);
  expect([steps?.at(-1)?.name, work?.switchingAt]).toEqual([step, undefined]);
  expect(await serviceOf(place)).toEqual(before);
  expect(await place.namesOf(NATS_CLUSTERS)).toEqual([]);
  const names = place.servers.map((one) => one.name);
  await expect.poll(() => place.namesOf(PODS), LONG).toEqual(names);
  await place.traffic.goesOn(SOME);
}

/** Into servers of this name, with a death at each of these writes. */
export async function expectCarriedOut(
  place: RoutedPlace,
  into: string,
  writes: readonly string[],
): Promise<void> {
  const told = deaths();
  await place.startTakeover(alive);
  const id = await place.confirm('over', into);
  await place.wakeUntilDone('over', told);
  await expectTakenOver(place, 'over', id, told, writes);
  expect(JSON.stringify(await place.status('over'))).not.toContain(LOGIN.pass);
  await place.traffic.goesOn(SOME);
}

/** Each client has connected anew, and nothing is lost but what one was away for. */
export async function expectHeard({ traffic }: RoutedPlace): Promise<void> {
  await traffic.goesOn(SOME);
  const report = await traffic.report();
  expect(report).toMatchObject({ unexplained: 0 });
  expect(report.reconnects).toBeGreaterThanOrEqual(CLIENTS);
  expect(report.lost).toBeLessThan(report.sent / 10);
}

/** None was missing, and of these that a person granted each was used. */
export async function expectRightsUsed(place: RoutedPlace, rights: RegExp): Promise<void> {
  const { lacking, refused, unused } = await place.misfits();
  expect([lacking, refused]).toEqual([[], []]);
  expect(unused.filter((right) => rights.test(right))).toEqual([]);
}
