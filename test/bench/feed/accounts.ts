// The cost of a stretch of work for each process of the system, from the kernel's accounts, and the
// memory that the API server holds, from its own.
import { systemClock } from '../../../shared/clock.ts';
import { readFile } from 'node:fs/promises';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { cpuSeconds } from '../cpu.ts';
import { PODS } from './pods.ts';

export type Pids = Readonly<Record<string, number | undefined>>;
/** Milliseconds by name of the process. */
export type Cpu = Readonly<Record<string, number>>;

const IDLE_MS = 1_500;
const QUIET_LOOK_MS = 300;
/** In a row: between two events there may be a pause. */
const QUIET_LOOKS = 3;
/** A share of one core: the kernel's accounts are no finer in so short a time. */
const QUIET_SHARE = 0.1;

/** The processor time of all processes; one without a pid costs nothing. */
async function cpuMs(pids: Pids): Promise<Cpu> {
  const rows = Object.entries(pids).map(async ([name, pid]): Promise<readonly [string, number]> => {
    return [name, pid === undefined ? 0 : (await cpuSeconds(pid)) * 1_000];
  });
  return Object.fromEntries(await Promise.all(rows));
}

/** The cost of the work, and its result. */
export async function costOf<Result>(
  pids: Pids,
  work: () => Promise<Result>,
): Promise<{ readonly cpu: Cpu; readonly ms: number; readonly result: Result }> {
  const before = await cpuMs(pids);
  const beganMs = performance.now();
  const result = await work();
  const ms = performance.now() - beganMs;
  const after = await cpuMs(pids);
  const cpu = Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]);
  return { cpu: Object.fromEntries(cpu) as Cpu, ms, result };
}

export const sumOf = (cpu: Cpu): number => Object.values(cpu).reduce((sum, one) => sum + one, 0);

/** CPU per millisecond while nobody asks for anything: what would be spent anyway. */
export async function idleOf(pids: Pids): Promise<Cpu> {
  const { cpu, ms } = await costOf(pids, () => systemClock.sleep(IDLE_MS));
  return Object.fromEntries(Object.entries(cpu).map(([name, value]) => [name, value / ms]));
}

/** Resolves when these have nothing left to do: the backlog of what was set up is through. */
export async function untilQuiet(pids: Pids): Promise<void> {
  for (let quiet = 0; quiet < QUIET_LOOKS;) {
    const { cpu, ms } = await costOf(pids, () => systemClock.sleep(QUIET_LOOK_MS));
    quiet = sumOf(cpu) < QUIET_SHARE * ms ? quiet + 1 : 0;
  }
}

/** Without what would have been spent anyway; what is left of nothing may be below nothing. */
export function beyondIdle(cpu: Cpu, idle: Cpu, ms: number): Cpu {
  const rows = Object.entries(cpu);
  return Object.fromEntries(rows.map(([name, value]) => [name, value - (idle[name] ?? 0) * ms]));
}

/**
 * Bytes that the process has written, to sockets, files and pipes alike. The servers here write to
 * little else than sockets.
 */
export async function writtenBytes(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/io`, 'utf8');
  return Number(/^wchar: (\d+)$/m.exec(text)?.[1]);
}

/** Two, because what the first one finds may have become garbage while it ran. */
const COLLECTIONS = 2;
const GARBAGE_LIST_MAX = 500;

/**
 * The memory that the API server really needs: its live heap after two collections, and its stacks.
 * Resident memory would not do, because Go keeps what it once had. Collections come with garbage,
 * so lists are asked for until there were enough.
 */
export async function heldBytes(kube: KubeClient): Promise<number> {
  const first = await goMetrics(kube);
  for (;;) {
    const { collections, heldBytes: held } = await goMetrics(kube);
    if (collections >= first.collections + COLLECTIONS) return held;
    await kube.list(PODS, { limit: GARBAGE_LIST_MAX, freshness: 'any' });
  }
}

async function goMetrics(kube: KubeClient) {
  const answer = await kube.raw({ method: 'GET', path: '/metrics', repeat: 'always' });
  const text = answer.text;
  const value = (name: string): number => {
    const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
    if (found === undefined) throw new Error(`The API server has no metric ${name}.`);
    return Number(found);
  };
  return {
    collections: value('go_gc_cycles_total_gc_cycles_total'),
    heldBytes: value('go_gc_heap_live_bytes') + value('go_memory_classes_heap_stacks_bytes'),
  };
}
