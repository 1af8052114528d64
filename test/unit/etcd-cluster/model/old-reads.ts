// Drives copies of a run whose first reads are as old as chance has it, the same in every test run.
import fc from 'fast-check';
import { Passed } from '../../stateful/passed.ts';
import type { Run } from './run.ts';

const SEED = 1;
const AGE_MAX = 6;
const READS_MIN = 20;

export interface OldReads {
  readonly readsMax: number;
  readonly runs: number;
}

export async function withOldReads(
  start: Run,
  { readsMax, runs }: OldReads,
  drive: (run: Run) => Promise<void>,
): Promise<void> {
  const age = fc.integer({ min: 0, max: AGE_MAX });
  const ages = fc.array(age, { minLength: READS_MIN, maxLength: readsMax });
  const passed = new Passed();
  const sound = start.copy();
  await passed.note(sound, () => drive(sound));
  const property = fc.asyncProperty(ages, async (old) => {
    const run = start.copy();
    let next = 0;
    run.model.kube.staleness = () => old[next++] ?? 0;
    await passed.meet(
      run,
      () => drive(run),
      () => next >= old.length,
    );
  });
  await fc.assert(property, { numRuns: runs, seed: SEED });
}
