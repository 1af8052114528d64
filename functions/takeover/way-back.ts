// A takeover can be rolled back until its next change is one that nothing undoes. That this is next
// is noted before it is made, and the definition refuses `spec.rollback` from then on. Pure.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import type { CommonDecision } from './decision.ts';
import type { Records } from './records.ts';

export const hasWayBack = ({ switchingAt }: TakeoverWork): boolean => switchingAt === undefined;

export const withoutWayBack = (work: TakeoverWork, nowMs: number): TakeoverWork => ({
  switchingAt: timestamp(nowMs),
  ...work,
});

/** The step that notes it, and what is noted beside it. */
export const noteNoWayBack = (
  { work, steps }: Records,
  nowMs: number,
  next: string,
): CommonDecision => ({
  step: { type: 'write-records', records: { work: withoutWayBack(work, nowMs), steps } },
  next,
});

/** Only as long as that change was not made. */
export function withWayBack(work: TakeoverWork): TakeoverWork {
  const { switchingAt: _, ...rest } = work;
  return rest;
}
