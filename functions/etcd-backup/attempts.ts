// Tells the steps of this function apart, for those that are applied again and again and change
// nothing. Pure.
import type { Attempt } from '../../shared/stateful/attempts.ts';
import type { Step } from './decision.ts';

export const attemptOf = ({ type }: Step, next: string): Attempt => ({
  key: type,
  next,
  isAsking: false,
});
