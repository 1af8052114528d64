// P1: what one more reader costs the API server while pods change. Ours is an agent that holds its
// node; the peer is an agent with an informer on all pods, whatever its node is (P2 has the peer
// that asks for its node alone). Both follow the same kind of changes of the same pods.
import { costOf, writtenBytes } from './feed/accounts.ts';
import { Child } from './feed/child.ts';
import { churn, type WriterChild } from './feed/churn.ts';
import { Crew } from './feed/crew.ts';
import { type Point, slope } from './feed/line.ts';
import { nodeName } from './feed/pods.ts';
import { FeedSystem } from './feed/system.ts';
import type { Bench, Sample } from './runner.ts';

const OURS = 'replicas of a node';
const PEER = 'informers on all pods';
/** One on each node, and each changed once in a window: a reader of one node sees one change. */
const PODS = 160;
const CHANGES = PODS;
const CHANGES_PER_SECOND = 50;
/**
 * Ours also with five times as many: what is to be shown is a slope that cannot be told from none,
 * and over more readers the noise of the machine weighs less.
 */
const OUR_COUNTS = [1, 200, 1_000];
const PEER_COUNTS = [1, 50, 200];

const lower = { ours: OURS, against: PEER, limit: 0.01, better: 'lower' } as const;

export const bench: Bench = {
  id: 'P1',
  title: 'what one more reader costs the API server, 50 pod changes per second',
  pairs: 5,
  figures: [
    { name: 'cpuPerReader', unit: 'us per change', control: 'cpuOfOne', ...lower },
    { name: 'bytesPerReader', unit: 'B per change', control: 'bytesOfOne', ...lower },
  ],
  open: () =>
    FeedSystem.prepare(async (system) => {
      await system.fill(PODS, PODS);
      const writer: WriterChild = await Child.start('writer.ts', system.plane.kubeconfigPath);
      const ours = (): Promise<Sample> => measureOurs(system, writer);
      const peer = (): Promise<Sample> => measurePeer(system, writer);
      return {
        sides: [
          { name: OURS, run: ours },
          { name: PEER, run: peer },
        ],
        close: async () => {
          await writer.end();
          await system.stop();
        },
      };
    }),
};

async function measureOurs(system: FeedSystem, writer: WriterChild): Promise<Sample> {
  const crew = await Crew.readers(system);
  const nameOf = (index: number): string => nodeName(index % PODS);
  return measure({ system, writer, crew, counts: OUR_COUNTS, nameOf, sightings: 1 });
}

async function measurePeer(system: FeedSystem, writer: WriterChild): Promise<Sample> {
  const crew = await Crew.watchers(system);
  const nameOf = (): string => '*';
  return measure({ system, writer, crew, counts: PEER_COUNTS, nameOf, sightings: CHANGES });
}

interface Task {
  readonly system: FeedSystem;
  readonly writer: WriterChild;
  readonly crew: Crew;
  readonly counts: readonly number[];
  readonly nameOf: (reader: number) => string;
  /** How many changes each reader sees. */
  readonly sightings: number;
}

async function measure({ crew, counts, nameOf, ...task }: Task): Promise<Sample> {
  try {
    const cpu: Point[] = [];
    const bytes: Point[] = [];
    let open = 0;
    for (const count of counts) {
      const names = Array.from({ length: count - open }, (_, index) => nameOf(open + index));
      await crew.open(names);
      open = count;
      const cost = await costOfChange(task, { crew, sightings: task.sightings * count });
      cpu.push({ x: count, y: cost.cpuUs });
      bytes.push({ x: count, y: cost.bytes });
    }
    return {
      cpuPerReader: slope(cpu),
      bytesPerReader: slope(bytes),
      cpuOfOne: cpu[0]?.y ?? Number.NaN,
      bytesOfOne: bytes[0]?.y ?? Number.NaN,
    };
  } finally {
    await crew.end();
  }
}

/** The API server's processor time for one change, and the bytes that it writes. */
async function costOfChange(
  { system, writer }: Pick<Task, 'system' | 'writer'>,
  witness: { readonly crew: Crew; readonly sightings: number },
): Promise<{ readonly cpuUs: number; readonly bytes: number }> {
  const { pid } = system.apiServer;
  const order = { pods: PODS, changes: CHANGES, perSecond: CHANGES_PER_SECOND };
  const before = await writtenBytes(pid);
  const { cpu } = await costOf({ server: pid }, () => churn(writer, order, [witness]));
  const bytes = (await writtenBytes(pid)) - before;
  return { cpuUs: ((cpu['server'] ?? Number.NaN) * 1_000) / CHANGES, bytes: bytes / CHANGES };
}
