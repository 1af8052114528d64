// Clusters of one server each whose pod cannot run, for a reason that the kubelet or the scheduler
// says, and another one beside them that can.
import { expect } from 'vitest';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { until } from '../../builders/versioned-kind.ts';
import { hasty, type Named, SCENARIO_MS } from '../../integration/nats-cluster/scene.ts';
import type { Stage } from './scenarios.ts';
import { BROKEN_IMAGE } from './server-images.ts';

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
const later: Clock = { ...hasty, nowMs: () => systemClock.nowMs() + STUCK_MS };

type OnPods = Pick<Stage, 'place' | 'ours'>;

const named = (name: string): Named => ({ namespace: 'small', name });

/** They stay, for whoever comes next. */
export async function makeStuck({ place, ours }: OnPods): Promise<void> {
  for (const [name, spec] of STUCK) await place.create(named(name), { ...SMALL, ...spec });
  // Beside each other: a registry that cannot be reached is only known after a minute.
  const told = STUCK.map(async ([name, , reason, said]) => {
    const ready = () => place.condition(named(name), 'Ready');
    await place.wakeUntil(ours, named(name), reason, async () =>
      (await ready()).startsWith(`False ${reason}`),
    );
    expect(await ready()).toContain(said);
    expect(await place.condition(named(name), 'Degraded')).toContain('False NotDegraded');
  });
  await Promise.all(told);
}

/** The reasons of Warnings on each of them, once the time for it is over. */
export async function callsForHelp({ place }: OnPods): Promise<readonly string[]> {
  const ours = await place.startFunction({ clock: later });
  const called = STUCK.map(async ([name, , reason, said]) => {
    const degraded = () => place.condition(named(name), 'Degraded');
    await place.wakeUntil(ours, named(name), 'a call for help', async () =>
      (await degraded()).startsWith(`True ${reason}`),
    );
    expect(await degraded()).toContain(said);
  });
  await Promise.all(called);
  const warnings = STUCK.map(async ([name]) => {
    const which = `--field-selector=involvedObject.name=${name},type=Warning`;
    return place.kubectl.run('get', 'events', '-n=small', which, '-o=jsonpath={.items[*].reason}');
  });
  return Promise.all(warnings);
}

export const STUCK_REASONS = STUCK.map(([, , reason]) => reason);

/**
 * A stuck cluster takes a sweep as long as a request may go on: while none of them is due after its
 * pause, the sweep begins with another one.
 */
export async function begunBeside({ place, ours }: OnPods): Promise<void> {
  let goOn = (): void => undefined;
  const pause = new Promise<void>((end) => (goOn = end));
  const clock: Clock = {
    ...hasty,
    sleep: (ms, signal) => hasty.sleep(ms, signal).then(() => pause),
  };
  const paused = await place.startFunction({ clock });
  const other = named('other');
  await place.create(other, SMALL);
  const sweep = place.tick(paused);
  try {
    const isBegun = async () => 'password' in (await place.secret(other, 'other-system'));
    await until('the first Secret of the other one', isBegun, SCENARIO_MS);
  } finally {
    goOn();
    await sweep;
  }
  await place.wakeUntilReady(ours, other);
  await place.delete(other);
}

export async function removeStuck({ place }: OnPods): Promise<void> {
  await Promise.all(STUCK.map(([name]) => place.delete(named(name))));
}
