// Lives of a takeover: what befalls it, and how it has to end. Each is lived with the process dying
// at any write, and with old reads.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Passed } from '../stateful/passed.ts';
import { at } from './others-at-work.ts';
import { type AnyRun, objectIn, type TakeoverRun } from './takeover-run.ts';
import { DEPLOYMENTS } from './world.ts';

const MANY_RUNS_MS = 120_000;

export type Life<Run> = readonly [
  title: string,
  befalls: (run: Run) => void,
  expectEnd: (run: Run) => void,
];

type Turning = Pick<AnyRun, 'step' | 'status' | 'edit'>;

/** Befalls a run in the first moment in which it is so; a copy does not live it again. */
export function once<Run>(
  isTime: (run: Run) => boolean,
  change: (run: Run) => void,
): (run: Run) => void {
  let isDone = false;
  return (run) => {
    if (isDone || !isTime(run)) return;
    isDone = true;
    change(run);
  };
}

/** Befalls a run in the first moment of this step. */
export const onceAt = <Run extends Pick<Turning, 'step'>>(
  step: string,
  change: (run: Run) => void,
): ((run: Run) => void) => once(({ step: now }) => now === step, change);

/** Rolled back as soon as this step is begun. */
export const backAt =
  (step: string) =>
  (run: Turning): void => {
    if (run.step === step) run.edit({ rollback: true });
  };

/** The last moment in which there is a way back, at this step: nobody has noted that it ends. */
export const backJustBefore =
  (step: string) =>
  (run: Turning): void => {
    const isLast = run.step === step && run.status.work?.switchingAt === undefined;
    if (isLast) run.edit({ rollback: true });
  };

/** Asked for once there is no way back, by somebody whom the API server would refuse it. */
function backTooLate(run: Turning): void {
  if (run.status.work?.switchingAt !== undefined) run.edit({ rollback: true });
}

export async function expectConverged(run: AnyRun): Promise<void> {
  expect(await run.converge()).toBe(true);
}

/** One that nobody knew of when the plan was confirmed, like this one. */
export const operatorAppears =
  (like = 'etcd-operator') =>
  (run: AnyRun): void => {
    const found = objectIn(run, `deployments/${like}`);
    if (run.status.work === undefined || found === undefined) return;
    if (objectIn(run, 'deployments/another-operator') !== undefined) return;
    const spec = { ...Object(found['spec']), replicas: 1 };
    run.kube.put(DEPLOYMENTS, { ...found, metadata: at('another-operator'), spec });
  };

/** These steps are all, and each is done. */
export function expectSteps({ status }: AnyRun, names: readonly string[]): void {
  const { phase, steps = [] } = status;
  expect([phase, steps.map(({ name }) => name)]).toEqual(['Done', names]);
  expect(steps.every(({ doneAt }) => doneAt !== undefined)).toBe(true);
}

/** Changes from now until it is over, after which nothing more is written. */
export async function changesOf(run: AnyRun): Promise<readonly string[]> {
  const before = run.writes.length;
  await expectConverged(run);
  const end = run.writes.length;
  await run.sweep();
  expect(run.writes.slice(end)).toEqual([]);
  return run.changesFrom(before);
}

interface Ends<Run> {
  readonly expectDone: (run: Run) => void;
  readonly expectRolledBack: (run: Run) => void;
}

/** Those of each takeover. `last`: the step in which the way back ends. */
export const usualLives = <Run extends Turning>(
  steps: readonly string[],
  last: string,
  { expectDone, expectRolledBack }: Ends<Run>,
): readonly Life<Run>[] => [
  ['is carried out', () => undefined, expectDone],
  ...steps
    .slice(0, steps.indexOf(last))
    .map((step): Life<Run> => [`is rolled back at ${step}`, backAt(step), expectRolledBack]),
  [`is rolled back in the last moment, at ${last}`, backJustBefore(last), expectRolledBack],
  ['is to be rolled back after that, and goes on', backTooLate, expectDone],
];

export function testLives<Run extends TakeoverRun<Run>>(
  confirmed: () => Promise<Run>,
  lives: readonly Life<Run>[],
): void {
  const settings = { timeout: MANY_RUNS_MS };
  test.each(lives)(
    'one that %s: a death at any write changes nothing in the end',
    settings,
    async (_, befalls, expectEnd) => {
      const run = await confirmed();
      run.befalls = befalls;
      const passed = new Passed();
      const left = await run.deathsIn(() => passed.note(run, () => expectConverged(run)));
      expectEnd(run);
      expect(left.length).toBeGreaterThan(6);
      await passed.each(left, async (one) => {
        await expectConverged(one);
        expectEnd(one);
      });
    },
  );

  test.each(lives)(
    'one that %s: old reads cost time, and break nothing',
    settings,
    async (_, befalls, expectEnd) => {
      const start = await confirmed();
      const ages = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 40, maxLength: 400 });
      const property = fc.asyncProperty(ages, async (old) => {
        const run = start.copy();
        run.befalls = befalls;
        let next = 0;
        run.kube.staleness = () => old[next++] ?? 0;
        expect(await run.converge()).toBe(true);
        expectEnd(run);
      });
      await fc.assert(property, { numRuns: 15, seed: 1 });
    },
  );
}
