// `npm run measure -- soak --minutes 60`: does anything grow while pods change, go and come? Prints
// what the function, NATS and two readers hold, minute by minute. It passes no judgement: the rows
// go into docs/scale.md.
import { inParallel } from '../../knative/try/local/cluster/in-parallel.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { Child } from '../bench/feed/child.ts';
import type { WriterChild } from '../bench/feed/churn.ts';
import { Crew } from '../bench/feed/crew.ts';
import { POD_NAMESPACE, PODS, createPod, nodeName, podName } from '../bench/feed/pods.ts';
import { FeedSystem } from '../bench/feed/system.ts';
import { residentBytes } from '../bench/cpu.ts';
import { mega, row } from './table.ts';

const POD_COUNT = 2_000;
const NODES = 50;
const PER_SECOND = 15;
/** In each round, in which every other pod is only changed. */
const REPLACED = 40;
const ROUND_SECONDS = 20;
const ROUNDS_PER_MINUTE = 3;
const IN_FLIGHT_MAX = 8;

export async function soak(minutes: number, print: (line: string) => void): Promise<void> {
  await FeedSystem.prepare(async (system) => {
    await system.fill(POD_COUNT, NODES);
    const { kubeconfigPath } = system.plane;
    const writer: WriterChild = await Child.start('writer.ts', kubeconfigPath);
    const [cluster, node] = [await Crew.readers(system), await Crew.readers(system)];
    await cluster.open(['*']);
    await node.open([nodeName(1)]);
    print(row('minute', 'function', 'nats-server', 'adapter', 'cluster reader', 'node reader'));
    print(row('---', '---', '---', '---', '---', '---'));
    try {
      for (let minute = 0; minute <= minutes; minute += 1) {
        const pids = [system.function, system.nats, system.adapter].map(({ pid }) => pid);
        const readers = [cluster, node].flatMap(({ pids: all }) => Object.values(all));
        const held = [...pids, ...readers].map((pid) => residentBytes(pid ?? 0));
        print(row(String(minute), ...(await Promise.all(held)).map(mega)));
        if (minute < minutes) await oneMinute(system, writer, minute);
        // Their changes are counted and let go.
        await Promise.all([cluster.take(), node.take()]);
      }
    } finally {
      await Promise.all([writer.end(), cluster.end(), node.end()]);
      await system.stop();
    }
  });
}

async function oneMinute(system: FeedSystem, writer: WriterChild, minute: number): Promise<void> {
  for (let round = 0; round < ROUNDS_PER_MINUTE; round += 1) {
    await oneRound(system.kube, writer, minute * ROUNDS_PER_MINUTE + round);
  }
  await system.sweep();
}

async function oneRound(kube: KubeClient, writer: WriterChild, round: number): Promise<void> {
  const changes = PER_SECOND * ROUND_SECONDS;
  // The writer goes through the first half of them; the others are replaced.
  const order = { pods: POD_COUNT / 2, changes, perSecond: PER_SECOND };
  const first = POD_COUNT / 2 + ((round * REPLACED) % (POD_COUNT / 2));
  const indexes = Array.from({ length: REPLACED }, (_, index) => first + index);
  const replaced = inParallel(indexes, IN_FLIGHT_MAX, (index) => replace(kube, index));
  await Promise.all([writer.ask(order), replaced]);
}

async function replace(kube: KubeClient, index: number): Promise<void> {
  const because = 'the measurement owns the cluster';
  const target = { namespace: POD_NAMESPACE, name: podName(index) };
  await kube.delete(PODS, target, { precondition: 'none', because }, { gracePeriodSeconds: 0 });
  await createPod(kube, index, NODES);
}
