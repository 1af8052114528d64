// The sizes and the revision of a member in the status. They change with every write, so they are
// written with something else of the member, and when a size has moved far. Pure.
import type { MemberStatus } from '../../shared/api/etcd-cluster.ts';
import { isSame } from '../../shared/hash.ts';
import type { MemberAnswer } from './etcd-state.ts';

type Measures = Pick<MemberStatus, 'databaseBytes' | 'databaseBytesInUse' | 'revision'>;

/** A share of the quota. */
const FAR_SHARE = 0.05;

/** `now` is all else that the status says of the member. */
export function withMeasures(
  before: MemberStatus | undefined,
  now: MemberStatus,
  answer: MemberAnswer,
  quotaBytes: number,
): MemberStatus {
  const { databaseBytes, databaseBytesInUse } = answer;
  const measured = { databaseBytes, databaseBytesInUse, revision: Number(answer.revision) };
  if (before === undefined) return { ...now, ...measured };
  const { databaseBytes: size, databaseBytesInUse: inUse, revision, ...rest } = before;
  const isFar =
    size === undefined ||
    inUse === undefined ||
    Math.abs(databaseBytes - size) >= quotaBytes * FAR_SHARE ||
    Math.abs(databaseBytesInUse - inUse) >= quotaBytes * FAR_SHARE;
  const isMoved = !isSame({ ...rest, lastContact: '' }, { ...now, lastContact: '' });
  if (isFar || isMoved) return { ...now, ...measured };
  const kept: Measures = { databaseBytes: size, databaseBytesInUse: inUse };
  return { ...now, ...kept, ...(revision === undefined ? {} : { revision }) };
}
