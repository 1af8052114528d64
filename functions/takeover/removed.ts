// Deletes what was made for a takeover, one thing at a time, and nothing of others: the new
// EtcdCluster, and the claims that its members leave behind. A claim with the id of the new cluster
// is theirs. One without an id is so where it was made while the new EtcdCluster was there; all
// others are of somebody who has made an EtcdCluster, or claims, of that name. Pure.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Decision, MadeKind } from './decision.ts';
import type { Records } from './records.ts';
import type { FoundMade, FoundMemberClaim, Own, State } from './state.ts';

type Seen = Pick<State, 'taken' | 'nowMs'>;
type Lived = NonNullable<TakeoverWork['lived']>;

export function removed(kind: MadeKind, found: FoundMade | undefined): Decision | undefined {
  if (found?.isOurs !== true) return undefined;
  const next = `Delete ${kind} ${found.name}`;
  if (!found.isEnding) return { step: { type: 'delete', kind, found }, next };
  const message = `${kind} ${found.name} is being deleted.`;
  return waitFor(next, [{ reason: 'Ending', message }]);
}

/** Undefined once nothing of it is left. */
export function removedCluster(
  seen: Seen,
  records: Records,
  { cluster, memberClaims }: Own = { cluster: undefined, memberClaims: [] },
): Decision | undefined {
  return (
    noteBirth(records, cluster) ??
    removed('EtcdCluster', cluster) ??
    goneParts(seen, cluster) ??
    noteEnd(seen, records, cluster) ??
    // One of somebody else may go on with claims of ours by now.
    (cluster === undefined ? removedFirst(memberClaims, records.work.lived) : undefined)
  );
}

const noted = ({ work, steps }: Records, lived: Lived, next: string): Decision => ({
  step: { type: 'write-records', records: { work: { ...work, lived }, steps } },
  next,
});

/** Before it is deleted. One that was asked for before that may come after it, and is another. */
function noteBirth(records: Records, cluster: FoundMade | undefined): Decision | undefined {
  const { lived } = records.work;
  const isNoted = lived !== undefined && lived.until === undefined;
  if (cluster?.isOurs !== true || isNoted) return undefined;
  return noted(records, { since: cluster.createdAt }, `Note EtcdCluster ${cluster.name}`);
}

const PARTS = /^(?:EtcdPeer|StatefulSet|Service) /;

/** They go with the EtcdCluster, and would make claims as long as they are there. */
function goneParts({ taken }: Seen, cluster: FoundMade | undefined): Decision | undefined {
  const parts = cluster === undefined ? taken.filter((one) => PARTS.test(one)) : [];
  if (parts.length === 0) return undefined;
  const message = `${parts.join(', ')} are going.`;
  return waitFor('Let the new cluster go', [{ reason: 'Ending', message }]);
}

/** A claim that is made from then on is somebody else's. */
function noteEnd(
  { nowMs }: Seen,
  records: Records,
  cluster: FoundMade | undefined,
): Decision | undefined {
  const { lived } = records.work;
  if (lived === undefined || lived.until !== undefined) return undefined;
  const until = cluster?.createdAt ?? timestamp(nowMs);
  return noted(records, { ...lived, until }, 'Note that the new cluster is gone');
}

function removedFirst(
  claims: readonly FoundMemberClaim[],
  lived: Lived | undefined,
): Decision | undefined {
  const own = claims.filter((one) => one.isOurs || (!one.isMarked && isWithin(one, lived)));
  const claim = own.find(({ isEnding }) => !isEnding) ?? own[0];
  return removed('claim', claim && { ...claim, isOurs: true });
}

const isWithin = ({ createdAt }: FoundMade, lived: Lived | undefined): boolean => {
  const at = Date.parse(createdAt);
  return at >= Date.parse(lived?.since ?? '') && at <= Date.parse(lived?.until ?? '');
};
