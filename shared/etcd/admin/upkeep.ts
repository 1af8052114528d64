// Upkeep of one member: hashes to compare it with others by, defragmentation, and handing over the
// leadership.
import type { Call } from './caller.ts';
import { type EtcdHeader, type Fields, hashIn, headerIn, revisionIn } from './fields.ts';

/** The hash of the whole file, which differs between members that hold the same keys. */
export interface EtcdHash {
  readonly header: EtcdHeader;
  readonly hash: number;
}

/**
 * The hash of all keys up to a revision: to be compared only with one of the same revision, and of
 * the same compaction.
 */
export interface EtcdHashKv extends EtcdHash {
  /** `0` before the first compaction. */
  readonly compactRevision: string;
  /** From 3.6 on; before, the revision that was asked for. */
  readonly hashRevision: string | undefined;
}

export const HASH: Call<EtcdHash> = {
  path: '/v3/maintenance/hash',
  read: (answer) => ({ header: headerIn(answer), hash: hashIn(answer, 'hash') }),
};

/** Up to the newest revision for `0`. */
export const hashKv = (revision: string): Call<EtcdHashKv> => ({
  path: '/v3/maintenance/hashkv',
  body: { revision },
  read: (answer) => ({
    header: headerIn(answer),
    hash: hashIn(answer, 'hash'),
    compactRevision: compactRevisionIn(answer),
    hashRevision: orUndefined(revisionIn(answer, 'hash_revision')),
  }),
});

/** etcd leaves out the header here. */
export const DEFRAGMENT: Call<void> = {
  path: '/v3/maintenance/defragment',
  isChange: true,
  read: () => undefined,
};

export const moveLeader = (targetId: string): Call<void> => ({
  path: '/v3/maintenance/transfer-leadership',
  body: { targetID: targetId },
  isChange: true,
  read: () => undefined,
});

/** etcd writes -1 before the first compaction. */
function compactRevisionIn(answer: Fields): string {
  const value = answer['compact_revision'];
  return value === '-1' ? '0' : revisionIn(answer, 'compact_revision');
}

const orUndefined = (revision: string): string | undefined =>
  revision === '0' ? undefined : revision;
