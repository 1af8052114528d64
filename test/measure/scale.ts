// `npm run measure -- scale --pods 5000,10000,20000`: what a cluster costs each part of the feed,
// at several sizes. The slopes between them are what docs/scale.md computes with.
import type { Cpu, Pids } from '../bench/feed/accounts.ts';
import { beyondIdle, costOf, idleOf } from '../bench/feed/accounts.ts';
import { Child } from '../bench/feed/child.ts';
import type { WriterChild } from '../bench/feed/churn.ts';
import { Crew } from '../bench/feed/crew.ts';
import { nodeName } from '../bench/feed/pods.ts';
import { FeedSystem } from '../bench/feed/system.ts';
import { residentBytes } from '../bench/cpu.ts';
import { mega, row } from './table.ts';

/** As docs/scale.md computes: 150,000 pods on 5,000 nodes. */
const PODS_PER_NODE = 30;
const CHANGES = 1_000;
const PER_SECOND = 50;

type Print = (line: string) => void;

export async function scale(sizes: readonly number[], print: Print): Promise<void> {
  await FeedSystem.prepare(async (system) => {
    const writer: WriterChild = await Child.start('writer.ts', system.plane.kubeconfigPath);
    try {
      let from = 0;
      for (const pods of sizes) {
        const nodes = Math.ceil(pods / PODS_PER_NODE);
        await system.fill(pods, nodes, from);
        from = pods;
        print(`\n## ${pods} pods, ${nodes} nodes\n`);
        await held(system, print);
        await worked(system, writer, pods, print);
        await read(system, print);
      }
    } finally {
      await writer.end();
      await system.stop();
    }
  });
}

async function held(system: FeedSystem, print: Print): Promise<void> {
  const { messages, bytes } = await system.streamState();
  print(`Stream: ${messages} messages, ${mega(bytes)}.\n`);
  const names = Object.keys(pidsOf(system));
  print(row('', ...names));
  print(row('---', ...names.map(() => '---')));
  const sizes = Object.values(pidsOf(system)).map((pid) => residentBytes(pid ?? 0));
  print(row('resident', ...(await Promise.all(sizes)).map(mega)));
}

async function worked(
  system: FeedSystem,
  writer: WriterChild,
  pods: number,
  print: Print,
): Promise<void> {
  const pids = pidsOf(system);
  const idle = await idleOf(pids);
  const tell = async (
    title: string,
    count: number,
    work: () => Promise<unknown>,
  ): Promise<void> => {
    const { cpu, ms } = await costOf(pids, work);
    const own: Cpu = beyondIdle(cpu, idle, ms);
    const cells = Object.values(own).map((each) => `${(each / count).toFixed(2)} ms`);
    print(row(`CPU of ${title} (${(ms / 1_000).toFixed(1)} s)`, ...cells));
  };
  const order = { pods, changes: CHANGES, perSecond: PER_SECOND };
  await tell('one change of a pod', CHANGES, () => writer.ask(order));
  await tell('the sweep after them', 1, () => system.sweep());
  await tell('a sweep at rest', 1, () => system.sweep());
  await tell('a sweep that lists and publishes everything', 1, async () => {
    await system.deleteStream();
    await system.sweep();
  });
}

async function read(system: FeedSystem, print: Print): Promise<void> {
  const crews: readonly (readonly [string, string])[] = [
    ['cluster', '*'],
    ['node', nodeName(1)],
  ];
  for (const [title, name] of crews) {
    const crew = await Crew.readers(system);
    try {
      const [pid = 0] = Object.values(crew.pids);
      const before = await residentBytes(pid);
      const { cpu, ms } = await costOf({ reader: pid, nats: system.nats.pid }, () =>
        crew.open([name]),
      );
      const grown = mega((await residentBytes(pid)) - before);
      const [own, server] = [cpu['reader'], cpu['nats']].map((each) => `${each?.toFixed(0)} ms`);
      print(
        `\nA ${title} reader: current after ${ms.toFixed(0)} ms, ${grown} larger; its CPU ${own},`,
      );
      print(`that of nats-server ${server}.`);
    } finally {
      await crew.end();
    }
  }
}

const pidsOf = ({ plane }: FeedSystem): Pids =>
  Object.fromEntries(plane.parts().map(({ name, pid }) => [name, pid]));
