// A takeover can be rolled back until its next change is one that nothing undoes. That this is next
// is noted before it is made, and the definition refuses `spec.rollback` from then on. Pure.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';

export const hasWayBack = ({ switchingAt }: TakeoverWork): boolean => switchingAt === undefined;

export const withoutWayBack = (work: TakeoverWork, nowMs: number): TakeoverWork => ({
  switchingAt: timestamp(nowMs),
  ...work,
});

/** Only as long as that change was not made. */
export function withWayBack(work: TakeoverWork): TakeoverWork {
  const { switchingAt: _, ...rest } = work;
  return rest;
}
