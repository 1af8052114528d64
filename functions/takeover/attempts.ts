// Tells the steps of this function apart, for those that are applied again and again and change
// nothing. Pure.
import { hashOf } from '../../shared/hash.ts';
import type { Attempt } from '../../shared/stateful/attempts.ts';
import type { AnyStep } from './any-state.ts';

/** Members may not be ready for it, and are asked again. */
const ASKING = new Set<AnyStep['type']>([
  'raise-alarm',
  'end-alarm',
  'add-member',
  'remove-member',
  'move-leader',
]);

export function attemptOf(step: AnyStep, next: string): Attempt {
  const about = step.type === 'write-records' ? hashOf(step.records) : next;
  return { key: `${step.type} ${about}`, next, isAsking: ASKING.has(step.type) };
}
