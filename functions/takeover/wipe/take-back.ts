// Takes a takeover that gives the data up back, before clients are led over: what was made is
// deleted, with the claims of its members, to which nobody was led. Pure.
import { awaitLate } from '../late.ts';
import { awaitLegacy } from '../legacy-gone.ts';
import type { Records } from '../records.ts';
import { endNow } from '../stages.ts';
import type { State } from '../state.ts';
import { restartOperators } from '../stop-operators.ts';
import { removedCluster } from '../removed.ts';
import { noteId, type WipeDecision } from './carry-out.ts';

export function takeBackWipe(state: State, records: Records): WipeDecision {
  return (
    awaitLegacy(state, records.work) ??
    restartOperators(state, records.work) ??
    noteId(records, state.wiping?.cluster) ??
    removedCluster(state, records, state.wiping) ??
    awaitLate(records, state.nowMs) ??
    endNow(records, state.nowMs)
  );
}
