// Tells the steps of this function apart, for those that are applied again and again and change
// nothing. Pure.
import { hashOf } from '../../shared/hash.ts';
import type { Attempt } from '../../shared/stateful/attempts.ts';
import type { Step } from './decision.ts';
import type { State } from './state.ts';

export function attemptOf(step: Step, next: string, state: State): Attempt {
  const key = hashOf({ type: step.type, next, target: targetOf(step, state) });
  return { key, next, isAsking: false };
}

/** Tells two steps of the same type and with the same `next` apart. */
function targetOf(step: Step, { rendered }: State): unknown {
  switch (step.type) {
    case 'apply':
      return rendered.manifest;
    case 'write-records':
      return step.records;
    case 'grow':
      return [step.claim.uid, step.size];
    case 'stop':
    case 'delete':
      return step.statefulSet.uid;
    default:
      return undefined;
  }
}
