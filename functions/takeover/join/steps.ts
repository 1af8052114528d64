// Applies one step of a takeover in which members join. A change of members is asked for by their
// id or address, so that it can be repeated; what it became of the next look tells.
import { LEGACY_ETCDS } from '../../../shared/api/takeover.ts';
import { hexOf } from '../../../shared/etcd/admin/ids.ts';
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { applied, slowly, type StepResult, unconfirmed } from '../../../shared/stateful/steps.ts';
import type { AnyStep } from '../any-state.ts';
import type { Door } from '../door.ts';
import { leadToOld } from '../lead-service.ts';
import type { State } from '../state.ts';
import { applyStep, type StepDeps } from '../steps.ts';
import type { JoinStep } from './decision.ts';
import { reach } from './reach.ts';

export interface JoinDeps extends StepDeps {
  readonly door: StepDeps['door'] & Pick<Door, 'add' | 'remove' | 'moveLeader'>;
}

/** etcd ends a change of its own after some seconds. */
const ANSWERS_WITHIN_MS = 10_000;

export async function applyJoinStep(
  deps: JoinDeps,
  state: State,
  step: AnyStep,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  switch (step.type) {
    case 'add-member':
    case 'remove-member':
    case 'move-leader':
      return changeMembers(deps, state, step, signal);
    case 'lead-back': {
      const old = { ref: LEGACY_ETCDS, who: 'members' };
      return leadToOld(deps.kube, state.takeover, step.service, old, signal);
    }
    default:
      return applyStep(deps, state, step, signal);
  }
}

type Change = Extract<JoinStep, { type: 'add-member' | 'remove-member' | 'move-leader' }>;

/**
 * Ordinary for some seconds: etcd takes a change of members only from a leader that has been
 * connected to all of them for five.
 */
const NOT_YET = ['UNHEALTHY', 'NOT_ENOUGH_STARTED', 'NO_LEADER', 'LEADER_CHANGED'] as const;

async function changeMembers(
  { door }: JoinDeps,
  state: State,
  step: Change,
  signal: AbortSignal,
): Promise<StepResult> {
  const { reason, message } = sentenceOf(step);
  try {
    await change(door, state, step, signal);
    return slowly(applied(reason, message));
  } catch (error) {
    signal.throwIfAborted();
    if (!isEtcdFailure(error)) throw error;
    if (NOT_YET.some((one) => one === error.reason)) return { isSlow: true };
    return unconfirmed(step.by.name, error.message, { reason, message });
  }
}

function change(door: JoinDeps['door'], state: State, step: Change, signal: AbortSignal) {
  const by = reach(state, step.by);
  const options = { timeoutMs: ANSWERS_WITHIN_MS, signal };
  switch (step.type) {
    case 'add-member':
      return door.add(by, step.member.peerUrl, options);
    case 'remove-member':
      return door.remove(by, step.member.id, options);
    default:
      return door.moveLeader(by, step.to.id, options);
  }
}

function sentenceOf(step: Change): Reason {
  switch (step.type) {
    case 'add-member': {
      const { name, peerUrl } = step.member;
      return { reason: 'MemberAdded', message: `The members count ${name} at ${peerUrl}.` };
    }
    case 'remove-member': {
      const { name, id } = step.member;
      return {
        reason: 'MemberRemoved',
        message: `The members count ${name} (${hexOf(id)}) no more.`,
      };
    }
    default:
      return { reason: 'LeaderMoved', message: `${step.by.name} let ${step.to.name} lead.` };
  }
}
