// The stop of all writes: members of the old cluster carry an alarm of ours, with which etcd itself
// refuses every change, also on connections that were open before. It is looked at again in every
// look until clients are led over. Pure.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { listed, waitFor } from '../../shared/stateful/decision.ts';
import { answersOf } from './answers.ts';
import type { Decision } from './decision.ts';
import { alarmIdOf, type Records } from './records.ts';
import type { State } from './state.ts';
import { withWayBack } from './way-back.ts';

/** A look comes at least so long after the other. */
const STEADY_MS = 1_000;

/** Every member that answers tells the same. */
function revisionOf(state: Pick<State, 'members'>): string | undefined {
  const all = new Set(answersOf(state).map(({ answer }) => answer.status.header.revision));
  return all.size === 1 ? [...all][0] : undefined;
}

/** A member that answered, and does not carry the alarm, or did not say. */
const unstopped = (state: State): readonly string[] =>
  answersOf(state)
    .map(({ pod }) => pod)
    .filter((pod) => !carries(state, pod));

export const carries = ({ takeover, work }: State, pod: string): boolean =>
  work?.alarms
    .get(pod)
    ?.some(({ memberId, type }) => type === 'CORRUPT' && memberId === alarmIdOf(takeover)) === true;

export const isQuorate = (state: Pick<State, 'members'>): boolean =>
  answersOf(state).some(({ answer }) => answer.isQuorate);

/** No write was taken since the revision that is recorded, and none can be. */
export const isFrozen = (state: State, { frozen }: TakeoverWork): boolean =>
  frozen?.isSteady === true &&
  isQuorate(state) &&
  unstopped(state).length === 0 &&
  revisionOf(state) === frozen.revision;

export function freeze(state: State, records: Records): Decision {
  const { work } = records;
  const blocker = blockerOf(state);
  if (blocker !== undefined) return waitFor('Stop the writers', [blocker], blocker);
  const starting = startingIn(state);
  if (starting !== undefined) return waitFor('Stop the writers', [starting]);
  const [pod] = unstopped(state);
  if (pod !== undefined) {
    const next = work.frozen === undefined ? 'Stop the writers' : 'Stop the writers again';
    return { step: { type: 'raise-alarm', pod }, next };
  }
  const revision = revisionOf(state);
  if (revision === undefined) {
    const message = 'Its members are not at one revision yet.';
    return waitFor('Stop the writers', [{ reason: 'RevisionMoves', message }]);
  }
  return steadied(state, records, revision);
}

/** With the alarm their startup probes fail, and the kubelet ends members of the quorum. */
function startingIn(state: State): Reason | undefined {
  const answering = new Set(answersOf(state).map(({ pod }) => pod));
  if ([...answering].some((pod) => carries(state, pod))) return undefined;
  const starting = state.pods.filter((one) => one.isStarting && answering.has(one.name));
  if (starting.length === 0) return undefined;
  const message =
    `The startup probe of ${listed(starting.map(({ name }) => name))} has not said yes so far, ` +
    'and would not while writers wait.';
  return { reason: 'PodsStarting', message };
}

function blockerOf(state: State): Reason | undefined {
  if (!isQuorate(state)) {
    const message = 'The old cluster has no quorum, so that nobody knows what was written last.';
    return { reason: 'NoQuorum', message };
  }
  const own = alarmIdOf(state.takeover);
  const others = [...(state.work?.alarms ?? [])].filter(([, alarms]) =>
    alarms.some(({ memberId, type }) => type === 'CORRUPT' && memberId !== own),
  );
  if (others.length === 0) return undefined;
  const message =
    `${listed(others.map(([pod]) => pod))} says that data of a member is corrupt. Roll it back ` +
    '(spec.rollback: true), and remove the member that differs.';
  return { reason: 'Corrupt', message };
}

function steadied(state: State, records: Records, revision: string): Decision {
  const { nowMs } = state;
  const { frozen } = records.work;
  const note = (isSteady: boolean, next: string): Decision => ({
    step: {
      type: 'write-records',
      records: {
        ...records,
        work: {
          ...records.work,
          frozen: { revision, isSteady, seenAt: timestamp(nowMs) },
        },
      },
    },
    next,
  });
  if (frozen?.isSteady === true) return movedAfter(records, revision);
  if (frozen?.revision !== revision) return note(false, `Note revision ${revision}`);
  if (nowMs - Date.parse(frozen.seenAt) < STEADY_MS) {
    const message = `It is looked again whether it still is ${revision}.`;
    return waitFor('Stop the writers', [{ reason: 'RevisionMoves', message }]);
  }
  return note(true, `Note that revision ${revision} stands still`);
}

/** A write is in the old cluster alone: all that was made of it before is of no use. */
function movedAfter(records: Records, revision: string): Decision {
  const { frozen } = records.work;
  const undoing =
    `the old cluster is at revision ${revision}, and the snapshot is of ` +
    `${frozen?.revision ?? ''}: somebody has ended the alarm, and has written`;
  return again(records, undoing);
}

/** Past a begun switch of the Service only as long as that was not done. */
export function again({ work, steps }: Records, undoing: string): Decision {
  return {
    step: { type: 'write-records', records: { work: { ...withWayBack(work), undoing }, steps } },
    next: `Begin anew, since ${undoing}`,
  };
}
