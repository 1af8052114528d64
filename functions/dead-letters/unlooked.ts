// Objects at which nobody has looked for two periods, since their function is dead or fails at
// them: what they say of being well is of a time when somebody looked, so it becomes Unknown. Pure.
// Only what says True is touched, and the function takes it back with its next look.
import { NATS_CLUSTER_LEASE, NATS_CLUSTERS } from '../../shared/api/nats-cluster.ts';
import { STORAGE_MIGRATION_LEASE, STORAGE_MIGRATIONS } from '../../shared/api/storage-migration.ts';
import { type ConditionInput, NOT_SWEPT, conditionsOf } from '../../shared/kube/conditions.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { type SweepLeaseState, sweptKey } from '../../shared/kube/sweep-lease.ts';

export interface Watched {
  readonly ref: ResourceRef;
  readonly kind: string;
  readonly functionName: string;
  readonly lease: string;
  /** The conditions that claim something of now. What is proved stays so. */
  readonly claims: readonly string[];
}

export const WATCHED: readonly Watched[] = [
  {
    ref: NATS_CLUSTERS,
    kind: 'NatsCluster',
    functionName: 'nats-cluster',
    lease: NATS_CLUSTER_LEASE,
    claims: ['Ready', 'Progressing'],
  },
  {
    ref: STORAGE_MIGRATIONS,
    kind: 'StorageMigration',
    functionName: 'storage-migration',
    lease: STORAGE_MIGRATION_LEASE,
    claims: ['Progressing'],
  },
];

/** What is not looked at: everything, or some by name, and since when. */
export interface Neglect {
  readonly isOfAll: boolean;
  readonly renewTime: string | undefined;
  readonly lastsMs: number;
  readonly failing: ReadonlyMap<string, string>;
}

/** Undefined while all are looked at. */
export function neglect(
  { renewTime, lastsMs, failing: all }: SweepLeaseState,
  ageMs: number,
  nowMs: number,
): Neglect | undefined {
  const isOfAll = ageMs > lastsMs;
  const failing = new Map([...all].filter(([, since]) => nowMs - Date.parse(since) > lastsMs));
  return isOfAll || failing.size > 0 ? { isOfAll, renewTime, lastsMs, failing } : undefined;
}

/** The conditions that have to change. One that is younger was said by somebody who looked. */
export function unlooked(
  object: KubeObject,
  watched: Watched,
  found: Neglect,
  nowMs: number,
): readonly ConditionInput[] {
  const message = messageOf(sweptKey(object), watched, found);
  if (message === undefined) return [];
  return conditionsOf(object)
    .filter(({ type, status }) => watched.claims.includes(type) && status === 'True')
    .filter((one) => nowMs - Date.parse(one.lastTransitionTime) > found.lastsMs)
    .map(({ type }) => ({ type, status: 'Unknown', reason: NOT_SWEPT, message }));
}

function messageOf(key: string, watched: Watched, found: Neglect): string | undefined {
  const { kind, functionName, lease } = watched;
  const { isOfAll, renewTime, failing } = found;
  const before = 'What its status says is of before.';
  if (!isOfAll) {
    const since = failing.get(key);
    if (since === undefined) return undefined;
    return (
      `Each look at this ${kind} has failed since ${since}. ${before} ` +
      `The log of ${functionName} says why.`
    );
  }
  const what =
    renewTime === undefined
      ? `Nobody is known to look at this ${kind}: there is no Lease ${lease}`
      : `Nobody has looked at this ${kind} since ${renewTime}, when Lease ${lease} was renewed`;
  return (
    `${what}, as each sweep does. ${before} Look at the function ${functionName}: whether it is ` +
    `installed, its pods, its log, and the PingSource ${functionName}-sweep.`
  );
}
