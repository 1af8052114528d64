// Tells how far the data has come: the snapshot is taken, the new cluster has it and serves, and
// every key is the same. Pure.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import type { State } from './state.ts';

/** All of what was written is in it. */
export const isTaken = ({ work: seen }: State, { frozen, clusterId }: TakeoverWork): boolean =>
  seen?.backup?.isOurs === true &&
  seen.backup.phase === 'Complete' &&
  seen.backup.revision === frozen?.revision &&
  clusterId !== undefined &&
  seen.backup.clusterId === clusterId;

export function isMade({ work: seen }: State, { newClusterId }: TakeoverWork): boolean {
  const { restore, cluster } = seen ?? {};
  const isRestored =
    restore?.isOurs === true &&
    restore.phase === 'Complete' &&
    newClusterId !== undefined &&
    restore.clusterId === newClusterId;
  return isRestored && cluster?.isOurs === true && cluster.isReady && !cluster.isEnding;
}

export const isCompared = ({ compared }: TakeoverWork): boolean => compared?.isWhole === true;
