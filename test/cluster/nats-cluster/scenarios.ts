// Changes and faults of a running cluster in real pods, and their outcomes.
import { expect } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { reported } from '../../integration/nats-cluster/report.ts';
import { type Named, NEW_IMAGE, OLD_IMAGE } from '../../integration/nats-cluster/scene.ts';
import { Traffic, untilTrafficFlows } from '../../integration/nats-cluster/traffic.ts';
import type { PodPlace } from './pod-place.ts';

export interface Stage {
  readonly place: PodPlace;
  readonly ours: RunningFunction;
  readonly cluster: Named;
}

async function eventsOf(
  { place, cluster }: Omit<Stage, 'ours'>,
  reason: string,
): Promise<readonly string[]> {
  return (await place.events(cluster)).filter((one) => one.startsWith(`${reason}:`));
}

export const podUids = async ({ place, cluster }: Stage): Promise<readonly string[]> =>
  (await place.pods(cluster)).map(({ metadata }) => metadata.uid).toSorted();

/** Servers of the old version have been made already; resolves with the versions of them all. */
export async function rollOutImage(stage: Stage): Promise<readonly (string | undefined)[]> {
  const { place, ours, cluster } = stage;
  expect((await place.read(cluster))['spec']).toMatchObject({ image: OLD_IMAGE });
  expect((await place.status(cluster)).version).toBe('2.14.9');
  await place.edit(cluster, { image: NEW_IMAGE });
  await place.wakeUntilReady(ours, cluster);
  const { servers = [], version } = await place.status(cluster);
  expect(version).toBe('2.15.2');
  expect(await eventsOf(stage, 'Restarted')).toHaveLength(3);
  return servers.map((one) => one.version);
}

/** One more account gets its first user; resolves with the uids of pods before and after. */
export async function reloadAccounts(
  stage: Stage,
): Promise<Readonly<Record<'before' | 'after', readonly string[]>>> {
  const { place, ours, cluster } = stage;
  const before = await podUids(stage);
  const { password = '' } = await place.secret(cluster, `${cluster.name}-user`);
  const pass = 'secret & <odd> "one"';
  await place.putSecret(cluster, 'passwords', { shop: pass, default: password });
  const user = (name: string, key: string) => ({
    name,
    passwordSecret: { name: 'passwords', key },
  });
  await place.edit(cluster, {
    accounts: [
      { name: 'DEFAULT', users: [user('default', 'default')] },
      { name: 'SHOP', users: [user('shop', 'shop')] },
    ],
  });
  await place.wakeUntilReady(ours, cluster);
  const after = await podUids(stage);
  const servers = await place.addresses(cluster);
  const other = await Traffic.start({ servers, user: 'shop', pass, stream: 'SHOP' });
  expect((await other.stop()).lost).toBe(0);
  return { before, after };
}

export async function scaleToFive({ place, ours, cluster }: Stage): Promise<void> {
  await place.scale(cluster, 5);
  await place.wakeUntilReady(ours, cluster);
  expect((await place.status(cluster)).servers).toHaveLength(5);
}

/**
 * Streams that are on the servers that go have to move, under their traffic. Resolves with the
 * claims that are left.
 */
export async function scaleBackToThree(
  stage: Stage,
  streamCount: number,
): Promise<readonly string[]> {
  const { place, ours, cluster } = stage;
  const kept = await claimUids(stage);
  const streams: Traffic[] = [];
  for (let index = 0; index < streamCount; index += 1) {
    streams.push(await place.startTraffic(cluster, { stream: `WIDE${index}`, publishers: 1 }));
  }
  await place.scale(cluster, 3);
  await place.wakeUntilReady(ours, cluster);
  for (const one of streams) reported('one of several streams', await one.stop());
  expect((await eventsOf(stage, 'StreamMoved')).length).toBeGreaterThan(0);
  const { servers, ...status } = await place.status(cluster);
  expect(servers).toHaveLength(3);
  expect(status).toMatchObject({ ready: '3/3', replicas: 3 });
  expect(await claimUids(stage)).toEqual(kept);
  return place.claims(cluster);
}

/** The claims of the three servers that stay. */
const claimUids = ({ place, cluster }: Stage): Promise<readonly (string | undefined)[]> =>
  Promise.all([0, 1, 2].map((ordinal) => place.claimUid(cluster, `data-nats-${ordinal}`)));

/**
 * A fault that a cluster survives by itself. Resolves with what the function did to servers
 * nevertheless.
 */
export async function endure(
  stage: Stage,
  traffic: Traffic,
  fault: () => Promise<unknown>,
): Promise<readonly string[]> {
  const { place, ours, cluster } = stage;
  const deeds = async () => [
    ...(await eventsOf(stage, 'Restarted')),
    ...(await eventsOf(stage, 'ClaimDeleted')),
  ];
  const before = await deeds();
  await untilTrafficFlows(traffic);
  await fault();
  await untilTrafficFlows(traffic);
  await place.wakeUntilReady(ours, cluster);
  return (await deeds()).filter((one) => !before.includes(one));
}

export const killAll = ({ place, cluster }: Stage): Promise<unknown> =>
  Promise.all([0, 1, 2].map((ordinal) => place.kill(cluster, `${cluster.name}-${ordinal}`)));

/** Resolves with the Events of claims that were deleted for it. */
export async function replaceLostVolume(
  stage: Stage,
  traffic: Traffic,
): Promise<readonly string[]> {
  const { place, ours, cluster } = stage;
  await untilTrafficFlows(traffic);
  const before = await claimUids(stage);
  const deleted = await eventsOf(stage, 'ClaimDeleted');
  await place.loseVolume(cluster, 'nats-2');
  await place.wakeUntil(ours, cluster, 'the claim to be replaced', async () => {
    const uid = await place.claimUid(cluster, 'data-nats-2');
    return uid !== undefined && !before.includes(uid);
  });
  await place.wakeUntilReady(ours, cluster);
  expect((await place.status(cluster)).replacing).toBeUndefined();
  expect((await claimUids(stage)).slice(0, 2)).toEqual(before.slice(0, 2));
  return (await eventsOf(stage, 'ClaimDeleted')).filter((one) => !deleted.includes(one));
}
