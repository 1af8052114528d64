// The faults: each names its target, is begun, and returns the function that lifts it.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Part } from '../../knative/try/local/process/part.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Random } from './random.ts';
import type { Mangling } from './relay.ts';
import { ADAPTER, API_SERVER, FEED, FUNCTION, NATS, type Rig } from './rig.ts';
import { connect } from 'nats';
import { ANSWER_WITHIN, loginOf } from '../builders/nats-login.ts';
import { streamName } from '../../shared/feed/subjects.ts';

export type Lift = () => Promise<void>;

export interface Fault {
  readonly kind: string;
  /** Two faults of one run are done to different things. */
  readonly on: string;
  /** How often it is chosen: some cost seconds. */
  readonly weight: number;
  readonly begin: (rig: Rig, random: Random) => Promise<Lift>;
}

const RESTARTED_WITHIN_MS = 30_000;

const killed = (kind: string, on: string, weight: number): Fault => ({
  kind,
  on,
  weight,
  begin: async ({ plane }) => {
    await plane.part(on).kill();
    return () => restart(plane.part(on));
  },
});

/** As often as it takes, like a kubelet: some end at once while what they need is not back yet. */
async function restart(part: Part): Promise<void> {
  const endsAtMs = systemClock.nowMs() + RESTARTED_WITHIN_MS;
  for (;;) {
    try {
      await part.start();
      return;
    } catch (error) {
      if (systemClock.nowMs() > endsAtMs) throw error;
    }
  }
}

const paused = (kind: string, on: string, weight: number): Fault => ({
  kind,
  on,
  weight,
  begin: async ({ plane }) => {
    await plane.part(on).pause();
    return async () => plane.part(on).resume();
  },
});

const cut = (client: string, server: string, weight: number): Fault => ({
  kind: `partition ${client} - ${server}`,
  on: `${client}-${server}`,
  weight,
  begin: async ({ plane }) => {
    plane.partition(client, server);
    return async () => plane.heal(client, server);
  },
});

const mangled = (mangling: Mangling): Fault => ({
  kind: `events ${mangling}`,
  on: mangling,
  weight: 3,
  begin: async ({ relay }, random) => {
    relay.mangle({ [mangling]: mangling === 'reorder' ? 0.6 : 0.3 }, random.fork(mangling));
    return async () => relay.mangle({ [mangling]: 0 }, random.fork(mangling));
  },
});

/** Its disk goes with it. */
export const NATS_WIPED: Fault = {
  kind: 'nats-server without its disk',
  on: NATS,
  weight: 1,
  begin: async ({ plane }) => {
    await plane.part(NATS).kill();
    await rm(join(plane.dir, 'data', 'nats'), { recursive: true });
    return () => plane.part(NATS).start();
  },
};

const STREAM_DELETED: Fault = {
  kind: 'stream deleted',
  on: NATS,
  weight: 1,
  begin: async ({ plane }) => {
    const nats = await connect(loginOf(plane.part(NATS).url));
    await nats.request(`$JS.API.STREAM.DELETE.${streamName(FEED)}`, '', ANSWER_WITHIN);
    await nats.close();
    return async () => undefined;
  },
};

const READER_KILLED: Fault = {
  kind: 'reader killed',
  on: 'reader',
  weight: 2,
  begin: async ({ readers, goReaders }, random) => {
    const reader = random.pick(readers);
    const inGo = random.fork('in Go').pick(goReaders);
    await Promise.all([reader.close(), inGo.close()]);
    return async () => {
      reader.open(random.chance(0.7) ? 'bookmark' : 'nothing');
      await inGo.open();
    };
  },
};

/** A sweep in the midst of it all, by two instances at once. */
const SWEPT: Fault = {
  kind: 'sweeps',
  on: 'sweep',
  weight: 3,
  begin: async (rig) => {
    for (const [index] of rig.instances.entries()) void rig.tick(index);
    return async () => undefined;
  },
};

export const FAULTS: readonly Fault[] = [
  killed('adapter killed', ADAPTER, 2),
  paused('adapter paused', ADAPTER, 2),
  killed('function killed', FUNCTION, 3),
  paused('function paused', FUNCTION, 2),
  killed('nats-server killed', NATS, 1),
  paused('nats-server paused', NATS, 2),
  NATS_WIPED,
  STREAM_DELETED,
  killed('API server killed', API_SERVER, 0.3),
  cut(FUNCTION, NATS, 2),
  cut(FUNCTION, API_SERVER, 2),
  cut(ADAPTER, API_SERVER, 2),
  cut(API_SERVER, 'etcd', 0.7),
  mangled('drop'),
  mangled('double'),
  mangled('reorder'),
  mangled('delay'),
  mangled('forge'),
  mangled('misplace'),
  READER_KILLED,
  SWEPT,
];

/** Faults with different targets, in the order in which they begin. */
export function chooseFaults(
  random: Random,
  count: number,
  without: readonly string[],
): readonly Fault[] {
  const chosen: Fault[] = [];
  while (chosen.length < count) {
    const free = FAULTS.filter(
      ({ on, kind }) => !without.includes(kind) && !chosen.some((other) => other.on === on),
    );
    chosen.push(random.weighted(free));
  }
  return chosen;
}
