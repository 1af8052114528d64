// Clusters of one server each whose pod cannot run, for a reason that the kubelet or the scheduler
// says, and others beside them that can.
import { expect } from 'vitest';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { until } from '../../builders/versioned-kind.ts';
import { isReady, type Named, SCENARIO_MS } from '../../integration/nats-cluster/scene.ts';
import { BROKEN_IMAGE } from './pod-place.ts';
import type { Stage } from './scenarios.ts';

const SMALL = { replicas: 1, jetStream: { memory: { size: '16Mi' } } };
const memory = '128Mi';
const STUCK: readonly (readonly [name: string, spec: object, reason: string, said: string])[] = [
  ['no-image', { image: 'nats:2.15.99' }, 'ImagePullBackOff', 'nats:2.15.99'],
  [
    'no-room',
    { resources: { requests: { cpu: '64', memory }, limits: { memory } } },
    'Unschedulable',
    'Insufficient cpu',
  ],
  ['broken', { image: BROKEN_IMAGE }, 'CrashLoopBackOff', 'ends with code 1'],
];
/** Longer than a pod may say why it does not run before a person is called. */
const STUCK_MS = 130_000;
const later: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + STUCK_MS };

const named = (name: string): Named => ({ namespace: 'shop', name });

/** They stay, for whoever comes next. */
export async function makeStuck({ place, ours }: Stage): Promise<void> {
  for (const [name, spec] of STUCK) await place.create(named(name), { ...SMALL, ...spec });
  for (const [name, , reason, said] of STUCK) {
    const ready = () => place.condition(named(name), 'Ready');
    await place.tickUntil(ours, named(name), reason, async () =>
      (await ready()).startsWith(`False ${reason}`),
    );
    expect(await ready()).toContain(said);
    expect(await place.condition(named(name), 'Degraded')).toContain('False NotDegraded');
  }
}

/** The reasons of Warnings on each of them, once the time for it is over. */
export async function callsForHelp({ place }: Stage): Promise<readonly string[]> {
  const ours = await place.startFunction({ clock: later });
  for (const [name, , reason, said] of STUCK) {
    const degraded = () => place.condition(named(name), 'Degraded');
    await place.tickUntil(ours, named(name), 'a call for help', async () =>
      (await degraded()).startsWith(`True ${reason}`),
    );
    expect(await degraded()).toContain(said);
  }
  const warnings = STUCK.map(async ([name]) => {
    const which = `--field-selector=involvedObject.name=${name},type=Warning`;
    return place.kubectl.run('get', 'events', '-n=shop', which, '-o=jsonpath={.items[*].reason}');
  });
  return Promise.all(warnings);
}

export const STUCK_REASONS = STUCK.map(([, , reason]) => reason);

/** How long four of them took to be Ready, made at the same time. */
export async function fourReadyMs({ place, ours }: Stage, names: string): Promise<number> {
  const four = ['0', '1', '2', '3'].map((one) => named(`${names}-${one}`));
  const startedAtMs = systemClock.nowMs();
  await Promise.all(four.map((one) => place.create(one, SMALL)));
  const over = new AbortController();
  // As the sweep and the events of pods come, whether or not the last one is done.
  const waking = (async () => {
    while (!over.signal.aborted) await place.tick(ours);
  })();
  try {
    const areReady = async (): Promise<boolean> => {
      const objects = await Promise.all(four.map((one) => place.read(one)));
      return objects.every(({ status, metadata }) => isReady(status ?? {}, metadata));
    };
    await until(`${names} to be Ready`, areReady, SCENARIO_MS);
    return systemClock.nowMs() - startedAtMs;
  } finally {
    over.abort();
    await waking;
    await Promise.all(four.map((one) => place.delete(one)));
  }
}

export async function removeStuck({ place }: Stage): Promise<void> {
  await Promise.all(STUCK.map(([name]) => place.delete(named(name))));
}
