// Waits for what may come after a Takeover was turned back: another instance may have asked for it
// just before. Pure.
import { waitFor } from '../../shared/stateful/decision.ts';
import type { CommonDecision } from './decision.ts';
import type { Records } from './records.ts';

/** A request to a member is given up after ten seconds, and one to the API server after thirty. */
const COMES_WITHIN_MS = 40_000;

/** Until nothing comes any more: what does is taken back like all else. */
export function awaitLate({ work }: Records, nowMs: number): CommonDecision | undefined {
  if (nowMs - Date.parse(work.rollingBackAt ?? '') >= COMES_WITHIN_MS) return undefined;
  const message =
    'It is looked for 40 seconds whether something comes that was asked for before it was ' +
    'rolled back.';
  return waitFor('End it', [{ reason: 'Ending', message }]);
}
