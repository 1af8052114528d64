// Lives of a takeover: what befalls it, and how it has to end. Each is lived with the process dying
// at any write, and with old reads.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Passed } from '../stateful/passed.ts';
import type { TakeoverRun } from './takeover-run.ts';

const MANY_RUNS_MS = 120_000;

export type Life<Run> = readonly [
  title: string,
  befalls: (run: Run) => void,
  expectEnd: (run: Run) => void,
];

type Turning = Pick<TakeoverRun<never>, 'step' | 'status' | 'edit'>;

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
export function backTooLate(run: Turning): void {
  if (run.status.work?.switchingAt !== undefined) run.edit({ rollback: true });
}

export async function expectConverged(run: Pick<TakeoverRun<never>, 'converge'>): Promise<void> {
  expect(await run.converge()).toBe(true);
}

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
