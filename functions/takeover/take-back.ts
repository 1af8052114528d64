// Takes back what was made: for another attempt, or all of it on rollback, where writers go on
// first. Only what is known to be ours is deleted. Pure.
import { waitFor } from '../../shared/stateful/decision.ts';
import { answersOf } from './answers.ts';
import type { Decision, MadeKind } from './decision.ts';
import { carries, isQuorate } from './frozen.ts';
import { awaitLate } from './late.ts';
import type { Records } from './records.ts';
import { endNow } from './stages.ts';
import type { FoundMade, State } from './state.ts';
import { refuseAccess } from './refuse-secrets.ts';
import { restartOperators } from './stop-operators.ts';

export function takeBack(state: State, records: Records): Decision {
  const isRollback = records.work.rollingBackAt !== undefined;
  const freed = isRollback ? letWrite(state, records) : undefined;
  if (freed !== undefined) return freed;
  const restarted = isRollback ? restartOperators(state, records.work) : undefined;
  const left = restarted ?? undo(state, records);
  if (left !== undefined) return left;
  if (!isRollback) return nextAttempt(records);
  return awaitLate(records, state.nowMs) ?? endNow(records, state.nowMs);
}

/** Nothing of them is left: the old cluster is frozen anew, and all begins from there. */
function nextAttempt({ work, steps }: Records): Decision {
  const { undoing: _, frozen: __, newClusterId: ___, compared: ____, ...rest } = work;
  const attempt = work.attempt + 1;
  const kept = steps.filter(({ name }) => name === 'StopOperator');
  const records = { work: { ...rest, attempt }, steps: kept };
  return { step: { type: 'write-records', records }, next: `Begin attempt ${attempt}` };
}

/** The alarm ends in all members at once; each says so for itself. */
function letWrite(state: State, { steps }: Records): Decision | undefined {
  const wasFrozen = steps.some(({ name }) => name === 'FreezeWriters');
  if (!wasFrozen || state.legacy === undefined) return undefined;
  const [unasked] = refuseAccess(state);
  if (unasked !== undefined) return waitFor('Let writers go on', [unasked], unasked);
  const answered = answersOf(state).map(({ pod }) => pod);
  const pod = answered.find((one) => carries(state, one));
  const next = 'Let writers go on';
  if (pod !== undefined) return { step: { type: 'end-alarm', pod }, next };
  const isKnown = answered.length > 0 && answered.every((one) => state.work?.alarms.has(one));
  if (isKnown && isQuorate(state)) return undefined;
  const message =
    'The old cluster has no quorum, so that its alarm cannot be ended. It goes on when one stands.';
  const trouble = { reason: 'NoQuorum', message };
  return waitFor(next, [trouble], trouble);
}

function undo(state: State, records: Records): Decision | undefined {
  const { work, steps } = records;
  const { restore, cluster, memberClaims = [], backup, claim } = state.work ?? {};
  const id = restore?.isOurs === true ? restore.clusterId : undefined;
  if (id !== undefined && id !== work.newClusterId) {
    const noted = { work: { ...work, newClusterId: id }, steps };
    return { step: { type: 'write-records', records: noted }, next: `Note ${id}` };
  }
  return (
    // First the one that would make others.
    removed('EtcdRestore', restore) ??
    removed('EtcdCluster', cluster) ??
    goneParts(state, cluster) ??
    removedFirst(memberClaims) ??
    removed('EtcdBackup', backup) ??
    removed('claim', claim)
  );
}

export function removedFirst(claims: readonly FoundMade[]): Decision | undefined {
  const own = claims.filter(({ isOurs }) => isOurs);
  return removed('claim', own.find(({ isEnding }) => !isEnding) ?? own[0]);
}

export function removed(kind: MadeKind, found: FoundMade | undefined): Decision | undefined {
  if (found?.isOurs !== true) return undefined;
  const next = `Delete ${kind} ${found.name}`;
  if (!found.isEnding) return { step: { type: 'delete', kind, found }, next };
  const message = `${kind} ${found.name} is being deleted.`;
  return waitFor(next, [{ reason: 'Ending', message }]);
}

const PARTS = /^(?:EtcdPeer|StatefulSet|Service) /;

/** They go with the EtcdCluster, and would make claims as long as they are there. */
export function goneParts({ taken }: State, cluster: FoundMade | undefined): Decision | undefined {
  const parts = cluster === undefined ? taken.filter((one) => PARTS.test(one)) : [];
  if (parts.length === 0) return undefined;
  const message = `${parts.join(', ')} are going.`;
  return waitFor('Let the new cluster go', [{ reason: 'Ending', message }]);
}
