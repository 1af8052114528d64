// Takes a takeover that gives the data up back, before clients are led over: what was made is
// deleted, with the claims of its members, which nobody has written to. Pure.
import { awaitLate } from '../late.ts';
import type { Records } from '../records.ts';
import { endNow } from '../stages.ts';
import type { State } from '../state.ts';
import { restartOperators } from '../stop-operators.ts';
import { goneParts, removed, removedFirst } from '../take-back.ts';
import { noteId, type WipeDecision } from './carry-out.ts';

export function takeBackWipe(state: State, records: Records): WipeDecision {
  const { cluster, memberClaims = [] } = state.wiping ?? {};
  return (
    restartOperators(state, records.work) ??
    noteId(records, cluster) ??
    removed('EtcdCluster', cluster) ??
    goneParts(state, cluster) ??
    removedFirst(memberClaims) ??
    awaitLate(records, state.nowMs) ??
    endNow(records, state.nowMs)
  );
}
