// How many objects of a resource are not shown because they are too large, and a few of their
// names. Pure.
import type { ResourceStatus } from '../../shared/api/metadata-feed.ts';
import type { Tally } from './look.ts';

export type LeftOut = Pick<Required<ResourceStatus>, 'oversize' | 'oversizeNames'>;

/** What came of a list, or of a history. */
export interface Met {
  readonly outcomes: Pick<Tally, 'oversize'>;
  /** Their names, once for each time that they were met. */
  readonly oversized: readonly string[];
}

/** A few are named, so that somebody can look for them. */
const NAMED_MAX = 3;

export const leftOutOfList = ({ outcomes, oversized }: Met): LeftOut => ({
  oversize: outcomes.oversize,
  oversizeNames: oversized.slice(0, NAMED_MAX),
});

/** What is not listed anew stays left out; if that is not so any more, the counts tell. */
export function leftOutSince({ oversized }: Met, before: ResourceStatus | undefined): LeftOut {
  const { oversize = 0, oversizeNames = [] } = before ?? {};
  const names = [...new Set([...oversizeNames, ...oversized])];
  return {
    // Who is not named may have been counted before: one too few is found as lacking, and one more
    // with each change would hide what is.
    oversize: Math.max(oversize, names.length),
    oversizeNames: names.slice(0, NAMED_MAX),
  };
}
