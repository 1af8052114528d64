// Takes back what was made: for another attempt, or all of it on rollback, where writers go on
// first. Only what is known to be ours is deleted. Pure.
import { waitFor } from '../../shared/stateful/decision.ts';
import { answersOf } from './answers.ts';
import type { Decision } from './decision.ts';
import { carries } from './frozen.ts';
import { awaitLate } from './late.ts';
import { awaitLegacy } from './legacy-gone.ts';
import { removed, removedCluster } from './removed.ts';
import type { Records } from './records.ts';
import { endNow } from './stages.ts';
import type { State } from './state.ts';
import { refuseAccess } from './refuse-secrets.ts';
import { restartOperators } from './stop-operators.ts';

export function takeBack(state: State, records: Records): Decision {
  const isRollback = records.work.rollingBackAt !== undefined;
  const freed = isRollback ? letWrite(state, records) : undefined;
  const held = freed ?? awaitLegacy(state, records.work);
  if (held !== undefined) return held;
  const restarted = isRollback ? restartOperators(state, records.work) : undefined;
  const left = restarted ?? undo(state, records);
  if (left !== undefined) return left;
  if (!isRollback) return nextAttempt(records);
  return awaitLate(records, state.nowMs) ?? endNow(records, state.nowMs);
}

/** Nothing of them is left: the old cluster is frozen anew, and all begins from there. */
function nextAttempt({ work, steps }: Records): Decision {
  const { undoing: _, frozen: __, newClusterId: ___, compared: ____, lived: _____, ...rest } = work;
  const attempt = work.attempt + 1;
  const kept = steps.filter(({ name }) => name === 'StopOperator');
  const records = { work: { ...rest, attempt }, steps: kept };
  return { step: { type: 'write-records', records }, next: `Begin attempt ${attempt}` };
}

/**
 * The alarm ends in all members at once; each says so for itself. One that is cut off from the
 * quorum could not end it, and hears of it when it is back.
 */
function letWrite(state: State, { steps }: Records): Decision | undefined {
  const wasFrozen = steps.some(({ name }) => name === 'FreezeWriters');
  if (!wasFrozen || state.legacy === undefined) return undefined;
  const [unasked] = refuseAccess(state);
  if (unasked !== undefined) return waitFor('Let writers go on', [unasked], unasked);
  const quorate = answersOf(state).filter(({ answer }) => answer.isQuorate);
  const pods = quorate.map(({ pod }) => pod);
  const pod = pods.find((one) => carries(state, one));
  const next = 'Let writers go on';
  if (pod !== undefined) return { step: { type: 'end-alarm', pod }, next };
  const isKnown = pods.length > 0 && pods.every((one) => state.work?.alarms.has(one));
  if (isKnown) return undefined;
  const message =
    'The old cluster has no quorum, so that its alarm cannot be ended. It goes on when one stands.';
  const trouble = { reason: 'NoQuorum', message };
  return waitFor(next, [trouble], trouble);
}

function undo(state: State, records: Records): Decision | undefined {
  const { work, steps } = records;
  const { restore, backup, claim } = state.work ?? {};
  const id = restore?.isOurs === true ? restore.clusterId : undefined;
  if (id !== undefined && id !== work.newClusterId) {
    const noted = { work: { ...work, newClusterId: id }, steps };
    return { step: { type: 'write-records', records: noted }, next: `Note ${id}` };
  }
  return (
    // First the one that would make others.
    removed('EtcdRestore', restore) ??
    removedCluster(state, records, state.work) ??
    removed('EtcdBackup', backup) ??
    removed('claim', claim)
  );
}
