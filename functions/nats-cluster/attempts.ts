// Tells steps apart, so that one is held back that was applied again and again and changed nothing.
// Pure.
import { hashOf } from '../../shared/hash.ts';
import type { Attempt } from '../../shared/stateful/attempts.ts';
import type { Step } from './decision.ts';
import { recordsOf, type State } from './state.ts';

const ASKING: readonly Step['type'][] = ['reload', 'step-down', 'move', 'remove-peer'];

export function attemptOf(step: Step, next: string, state: State): Attempt {
  const { type } = step;
  const target = targetOf(step, state) ?? state.parts.rendered?.config;
  return { key: hashOf({ type, next, target }), next, isAsking: ASKING.includes(type) };
}

/** Tells two steps of the same type and with the same `next` apart. */
function targetOf(step: Step, state: State): unknown {
  switch (step.type) {
    case 'apply':
      return step.part.manifest;
    case 'write-records':
      // Each change ends with the same empty records: only what they follow tells them apart.
      return [recordsOf(state), step.records];
    case 'name-secrets':
      return step.unnamed.owners;
    case 'restart':
    case 'delete-pod':
      return step.pod.uid;
    case 'delete-claim':
      return step.claim.uid;
    default:
      return undefined;
  }
}
