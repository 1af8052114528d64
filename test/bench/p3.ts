// P3: five hundred agents restart in the same moment, in a cluster of 2,000 pods: what it costs
// until each has its picture, and how long the last one waits. Ours hold their node; the peers
// are informers on all pods (a fifth of them, times five) and, stated only, lists and watches of
// one node.
import { beyondIdle, costOf, idleOf, sumOf, untilQuiet } from './feed/accounts.ts';
import { Crew } from './feed/crew.ts';
import { nodeNames } from './feed/pods.ts';
import { FeedSystem } from './feed/system.ts';
import type { Bench, Figure, Sample } from './runner.ts';

const OURS = 'replicas of a node';
const PEER = 'informers, 100 times 5';
const STRONG_PEER = 'list+watch of a node';
const AGENTS = 500;
/**
 * Five hundred whole lists at once keep two cores busy for longer than the minute that the API
 * server gives a request, which then ends half answered. A fifth of them keeps it just as busy, and
 * five times its figures are what the rest would cost at least.
 */
const PEER_SHARE = 5;
const PODS = 2_000;
/** For the agents of either side: they have as many cores as the machine here. */
const PROCESSES = 2;

const lower = { ours: OURS, better: 'lower' } as const;
const stated = (figure: Pick<Figure, 'name' | 'unit' | 'control'>): Figure => ({
  ...figure,
  ...lower,
  name: `${figure.name}, ${STRONG_PEER}`,
  sample: figure.name,
  against: STRONG_PEER,
  limit: Infinity,
});
// Ours asks the API server for nothing, so its cost there is about zero, and may be below.
const apiServer = { name: 'apiServerCpu', unit: 's', control: 'allCpu' } as const;
const allCpu = { name: 'allCpu', unit: 's' } as const;
const seconds = { name: 'untilCurrent', unit: 's' } as const;

export const bench: Bench = {
  id: 'P3',
  title: '500 agents restart at once, 2,000 pods',
  pairs: 5,
  figures: [
    { ...apiServer, ...lower, against: PEER, limit: 0.01 },
    { ...allCpu, ...lower, against: PEER, limit: 0.1 },
    { ...seconds, ...lower, against: PEER, limit: 0.2 },
    stated(apiServer),
    stated(allCpu),
    stated(seconds),
  ],
  open: () =>
    FeedSystem.prepare(async (system) => {
      await system.fill(PODS, AGENTS);
      const everything = Array.from({ length: AGENTS / PEER_SHARE }, () => '*');
      const nodes = nodeNames(AGENTS);
      const options = { processes: PROCESSES };
      const readers = (): Promise<Crew> => Crew.readers(system, options);
      const watchers = (): Promise<Crew> => Crew.watchers(system, options);
      return {
        sides: [
          { name: OURS, run: async () => measure(system, await readers(), nodes) },
          {
            name: PEER,
            run: async () => times(await measure(system, await watchers(), everything)),
          },
          { name: STRONG_PEER, run: async () => measure(system, await watchers(), nodes) },
        ],
        close: () => system.stop(),
      };
    }),
};

function times(sample: Sample): Sample {
  const rows = Object.entries(sample).map(([name, value]) => [name, value * PEER_SHARE]);
  return Object.fromEntries(rows) as Sample;
}

async function measure(system: FeedSystem, crew: Crew, names: readonly string[]): Promise<Sample> {
  const parts = Object.fromEntries(system.plane.parts().map(({ name, pid }) => [name, pid]));
  // The processes of the agents run already: what a process costs to start is the same for all.
  const pids = { ...parts, ...crew.pids };
  const server = system.apiServer.name;
  try {
    await untilQuiet(parts);
    const idle = await idleOf(pids);
    const { cpu, ms } = await costOf(pids, () => crew.open(names));
    const spent = beyondIdle(cpu, idle, ms);
    return {
      apiServerCpu: (spent[server] ?? Number.NaN) / 1_000,
      allCpu: sumOf(spent) / 1_000,
      untilCurrent: ms / 1_000,
    };
  } finally {
    await crew.end();
  }
}
