// Tells the steps of this function apart, for those that are applied again and again and change
// nothing. Pure.
import { hashOf } from '../../shared/hash.ts';
import type { Attempt } from '../../shared/stateful/attempts.ts';
import type { Step } from './decision.ts';
import { memberOf, recordsOf, type State } from './state.ts';

const ASKING: readonly Step['type'][] = ['add-learner', 'promote', 'remove-member', 'move-leader'];

export function attemptOf(step: Step, next: string, state: State): Attempt {
  const key = hashOf({ type: step.type, next, target: targetOf(step, state) });
  const attempt = { key, next, isAsking: ASKING.includes(step.type) };
  // The budget lets a pod go, then none, and then one again.
  return step.type === 'apply' ? { ...attempt, about: step.part.key } : attempt;
}

/** Tells two steps of the same type and with the same `next` apart. */
function targetOf(step: Step, state: State): unknown {
  switch (step.type) {
    case 'make-secret':
      return step.secret.manifest;
    case 'apply':
      return step.part.manifest;
    case 'make-peer':
      // The place of a member that was lost is taken by another one, who is told the same.
      return [step.spec, memberOf(state, step.name)?.id];
    case 'update-peer':
      return [step.peer.uid, step.spec];
    case 'delete-peer':
      return step.peer.uid;
    case 'mark-claim':
      return [step.claim.uid, step.clusterId, step.version];
    case 'delete-claim':
      return step.claim.uid;
    case 'restart':
      return step.pod.uid;
    case 'write-records':
      // Each change ends with the same empty records: only what they follow tells them apart.
      return [recordsOf(state), step.records];
    case 'change-auth':
      // The same change is made again when others were made in between.
      return [step.change, state.etcd.auth?.revision];
    case 'add-learner':
      // Each one that is added is told there how it starts, and may be lost, and added again.
      return [state.etcd.list?.members.length, state.parts.starts?.resourceVersion];
    case 'compact':
      return step.revision;
    case 'disarm':
      return [step.memberId, step.alarm];
    default:
      return step.memberId;
  }
}
