// `npm run measure -- floods`: what each function holds in memory, as it ships, while it is flooded
// in every way that an outsider has, and whether another sender is served meanwhile. Prints a row
// for each flood, and says at the end which went beyond nine tenths of the limit, or died.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { etcdClusterRights } from '../../../knative/tools/rights/etcd-cluster.ts';
import { etcdPeerRights } from '../../../knative/tools/rights/etcd-peer.ts';
import { natsClusterRights } from '../../../knative/tools/rights/manifests.ts';
import { systemClock } from '../../../shared/clock.ts';
import { openEtcd } from '../../../shared/etcd/client.ts';
import { row } from '../table.ts';
import { FUNCTIONS } from '../options.ts';
import { applyManifests } from './apply.ts';
import { etcdClusterFloods, etcdPeerFloods } from './etcd-floods.ts';
import { fillFeed } from './full-feed.ts';
import { type EventOf, type Flood, httpFloods, validEvents } from './http-floods.ts';
import { migrationFloods } from './migration-floods.ts';
import {
  TENANT,
  deadLetterFloods,
  metadataFloods,
  natsClusterFloods,
  podEvent,
} from './own-floods.ts';
import { auditFloods, locateFloods } from './route-floods.ts';
import {
  type Victim,
  type World,
  forgetPeak,
  memoryOf,
  startVictim,
  withWorld,
} from './shipped.ts';
import { type FloodRequest, Crowd, Neighbour, eventHeaders, once } from './traffic.ts';

type Name = (typeof FUNCTIONS)[number];

/** Nothing of the kind is there, so it is looked up. */
const eventOf =
  (kind: string): EventOf =>
  (index) => ({
    type: 'dev.knative.apiserver.resource.update',
    data: {
      apiVersion: 'ballast.dev/v1alpha1',
      kind,
      metadata: { name: `a-${index % 500}`, namespace: TENANT },
    },
  });

interface Trial {
  readonly floods: (world: World, events: number) => Promise<readonly Flood[]>;
  /** The request of a neighbour meanwhile. */
  readonly neighbourRequest: (index: number) => FloodRequest;
}

function ofEvents(event: EventOf, own: (world: World) => readonly Flood[]): Trial {
  return {
    floods: async (world, events) => [
      validEvents(event, events),
      ...httpFloods(event),
      ...own(world),
      validEvents(event, events / 10),
    ],
    neighbourRequest: (index) => {
      const { type, data } = event(index);
      return { headers: eventHeaders({ 'ce-type': type }), body: JSON.stringify(data) };
    },
  };
}

const LETTER: EventOf = (index) => ({
  type: 'dev.knative.apiserver.resource.update',
  data: {},
  attributes: { id: `letter-${index}` },
});

const TRIALS: Readonly<Record<Name, Trial>> = {
  metadata: ofEvents(podEvent, metadataFloods),
  'nats-cluster': ofEvents(eventOf('NatsCluster'), natsClusterFloods),
  'etcd-cluster': ofEvents(eventOf('EtcdCluster'), etcdClusterFloods),
  'etcd-peer': ofEvents(eventOf('EtcdPeer'), etcdPeerFloods),
  'storage-migration': ofEvents(eventOf('StorageMigration'), migrationFloods),
  'dead-letters': ofEvents(LETTER, deadLetterFloods),
  locate: {
    floods: async () => [...httpFloods(LETTER), ...locateFloods()],
    neighbourRequest: () => ({ method: 'GET', path: '/feed' }),
  },
  'storage-audit': {
    floods: async (world) => [...httpFloods(LETTER), ...auditFloods(await snapshotOf(world))],
    neighbourRequest: () => ({ method: 'GET', path: '/audit?resource=natsclusters.ballast.dev' }),
  },
};

async function snapshotOf({ plane }: World): Promise<Buffer> {
  const dir = await mkdtemp(join(tmpdir(), 'ballast-floods-'));
  const etcd = openEtcd({ endpoints: [plane.part('etcd').url], tls: {} });
  try {
    await etcd.save(join(dir, 'db'));
    return (await readFile(join(dir, 'db'))).subarray(0, 64 * 1024 * 1024);
  } finally {
    await etcd.close();
    await rm(dir, { recursive: true });
  }
}

const HEAD = [
  'function',
  'flood',
  'before',
  'peak',
  'after',
  'of its limit',
  'a second',
  'answers',
  'another sender',
];
const AT_ONCE_MAX = 100;
const FLAT_RATIO = 0.9;
const QUIET_MS = 3_000;
/** In a fraction of it a reader has a full feed. */
const FILLED_MS = 15_000;

export interface FloodsAsked {
  readonly only: readonly string[];
  /** Valid ones, for each function that takes any. */
  readonly events: number;
  /** In the names of the floods that are tried. */
  readonly like: string;
  /** Pods in the feed that locate reads; 0 is what metadata has published. */
  readonly shown: number;
}

export async function floods(
  { only, events, like, shown }: FloodsAsked,
  print: (line: string) => void,
): Promise<void> {
  print(row(...HEAD));
  print(row(...HEAD.map(() => '---')));
  await withWorld(async (world) => {
    const rights = [natsClusterRights, etcdClusterRights, etcdPeerRights];
    await applyManifests(
      world.kube,
      rights.flatMap((rightsOf) => rightsOf(TENANT)),
    );
    for (const name of FUNCTIONS.filter((one) => only.includes(one))) {
      const isFull = name === 'locate' && shown > 0;
      if (isFull) await fillFeed(world, shown);
      const victim = await startVictim(world, name);
      if (isFull) await systemClock.sleep(FILLED_MS);
      const trial = TRIALS[name];
      const all = await trial.floods(world, events);
      for (const flood of all.filter((one) => one.name.includes(like))) {
        print(await drown(victim, trial, flood));
      }
      // locate reads what metadata has published.
      if (name !== 'metadata') await victim.part.stop();
    }
  });
}

const mebi = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;

async function drown(victim: Victim, { neighbourRequest }: Trial, flood: Flood): Promise<string> {
  const before = await memoryOf(victim);
  await forgetPeak(victim);
  const crowd = new Crowd(victim, AT_ONCE_MAX);
  let index = 0;
  const neighbour = new Neighbour(() => once(victim, neighbourRequest((index += 1))));
  neighbour.start();
  const startedMs = systemClock.nowMs();
  const sent = await flood.run(victim, crowd).catch((error: unknown) => String(error));
  const tookSeconds = (systemClock.nowMs() - startedMs) / 1_000;
  await neighbour.end();
  crowd.close();
  const peak = await memoryOf(victim);
  await systemClock.sleep(QUIET_MS);
  const after = await memoryOf(victim);
  const ratio = (peak?.peakBytes ?? 0) / victim.limitBytes;
  const isDead = peak?.pid !== before?.pid || peak === undefined;
  const shown = isDead
    ? 'DIED'
    : `${Math.round(ratio * 100)} %${ratio > FLAT_RATIO ? ' TOO MUCH' : ''}`;
  return row(
    victim.name,
    flood.name,
    mebi(before?.nowBytes ?? 0),
    mebi(peak?.peakBytes ?? 0),
    mebi(after?.nowBytes ?? 0),
    `${shown} of ${mebi(victim.limitBytes)}`,
    typeof sent === 'number' ? String(Math.round(sent / tookSeconds)) : sent,
    shownAnswers(crowd.answers),
    shownNeighbour(neighbour),
  );
}

const shownAnswers = (answers: ReadonlyMap<number, number>): string =>
  [...answers].map(([status, count]) => `${count} × ${status}`).join(', ');

function shownNeighbour({ served, unserved, slowestMs, refused }: Neighbour): string {
  const others = refused.size === 0 ? '' : `, refused ${shownAnswers(refused)}`;
  const lost = unserved === 0 ? '' : `, ${unserved} NOT SERVED`;
  return `${served} served, slowest ${(slowestMs / 1_000).toFixed(1)} s${others}${lost}`;
}
