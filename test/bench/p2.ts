// P2: a thousand readers of a node each against the strong peer, a thousand watches that ask the
// API server for one node's pods alone: what they make the API server hold, what opening them
// costs it, and what one change of a pod then costs the whole system, the writer excepted.
import {
  beyondIdle,
  costOf,
  heldBytes,
  idleOf,
  type Pids,
  sumOf,
  untilQuiet,
} from './feed/accounts.ts';
import { Child } from './feed/child.ts';
import { churn, type WriterChild } from './feed/churn.ts';
import { Crew } from './feed/crew.ts';
import { nodeNames } from './feed/pods.ts';
import { FeedSystem } from './feed/system.ts';
import type { Bench, Sample } from './runner.ts';

const OURS = 'replicas of a node';
const PEER = 'watches of a node';
/** As many pods and nodes: each change concerns one reader. */
const READERS = 1_000;
const CHANGES = 150;
const CHANGES_PER_SECOND = 50;
/** A ping comes each minute, and with it a sweep. */
const SWEEP_EVERY_MS = 60_000;

const lower = { ours: OURS, against: PEER, better: 'lower' } as const;

export const bench: Bench = {
  id: 'P2',
  title: '1,000 readers of a node each against 1,000 watches with spec.nodeName',
  pairs: 5,
  figures: [
    // Both may come out below nothing: then ours cannot be told from nothing.
    { name: 'heldPerReader', unit: 'KB', limit: 0.02, control: 'heldMb', ...lower },
    { name: 'openingPerReader', unit: 'API server us', limit: 0.02, control: 'change', ...lower },
    { name: 'change', unit: 'ms of CPU, whole system', limit: 1.15, ...lower },
  ],
  open: () =>
    FeedSystem.prepare(async (system) => {
      await system.fill(READERS, READERS);
      const writer: WriterChild = await Child.start('writer.ts', system.plane.kubeconfigPath);
      return {
        sides: [
          { name: OURS, run: () => measureOurs(system, writer) },
          { name: PEER, run: () => measurePeer(system, writer) },
        ],
        close: async () => {
          await writer.end();
          await system.stop();
        },
      };
    }),
};

async function measureOurs(system: FeedSystem, writer: WriterChild): Promise<Sample> {
  const { apiServer, nats, adapter } = system;
  const etcd = system.plane.part('etcd');
  const parts = { apiServer, etcd, nats, adapter, function: system.function };
  const pids = Object.fromEntries(Object.entries(parts).map(([name, { pid }]) => [name, pid]));
  const crew = await Crew.readers(system);
  const sample = await measure(system, writer, crew, pids);
  // The sweep's share: one minute has one, however many changes it has.
  const sweep = await costOf(pids, () => system.sweep());
  const perChange = sumOf(sweep.cpu) / ((SWEEP_EVERY_MS / 1_000) * CHANGES_PER_SECOND);
  return { ...sample, change: (sample['change'] ?? Number.NaN) + perChange };
}

/** The feed does not exist for it: what would feed it is ended, and begins again afterwards. */
async function measurePeer(system: FeedSystem, writer: WriterChild): Promise<Sample> {
  const { apiServer, adapter } = system;
  const pids = { apiServer: apiServer.pid, etcd: system.plane.part('etcd').pid };
  await adapter.stop();
  try {
    return await measure(system, writer, await Crew.watchers(system), pids);
  } finally {
    await adapter.start();
  }
}

async function measure(
  system: FeedSystem,
  writer: WriterChild,
  crew: Crew,
  pids: Pids,
): Promise<Sample> {
  const server = { apiServer: system.apiServer.pid };
  try {
    await untilQuiet(server);
    const before = await heldBytes(system.kube);
    // Asking for garbage has its own aftermath.
    await untilQuiet(server);
    const idle = await idleOf(server);
    const opening = await costOf(server, () => crew.open(nodeNames(READERS)));
    const held = await heldBytes(system.kube);
    await system.untilNoConsumers();
    const order = { pods: READERS, changes: CHANGES, perSecond: CHANGES_PER_SECOND };
    const all = { ...pids, ...crew.pids };
    const { cpu } = await costOf(all, () => churn(writer, order, [{ crew, sightings: CHANGES }]));
    return {
      heldPerReader: (held - before) / READERS / 1_024,
      heldMb: held / 1_024 ** 2,
      openingPerReader: (sumOf(beyondIdle(opening.cpu, idle, opening.ms)) * 1_000) / READERS,
      change: sumOf(cpu) / CHANGES,
    };
  } finally {
    await crew.end();
  }
}
