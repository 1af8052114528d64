// The first records of a plan that gives the data up, when it is confirmed. Pure.
import { workOf } from '../begin.ts';
import { targetHash } from '../own-cluster.ts';
import type { Records } from '../records.ts';
import type { State } from '../state.ts';

export const firstRecordsToWipe = (state: State, plan: string): Records => ({
  work: { ...workOf(state, plan), target: targetHash(state) },
  steps: [],
});
