// Reads the state of a restore: its claim, its Job with the pods of that, and the EtcdCluster; and
// as long as that is to be made, where the backup is, how the EtcdCluster would be stored, and
// whether its names are free. Secrets are never read. Nothing is read for one that is over. Writes
// nothing.
import { ETCD_CLUSTERS, type EtcdClusterStatus } from '../../shared/api/etcd-cluster.ts';
import { CLUSTER_ID_ANNOTATION } from '../../shared/api/etcd-peer.ts';
import { jobNameOf } from '../../shared/jobs/job-name.ts';
import { readJob } from '../../shared/jobs/observe.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isEnding, type KubeObject } from '../../shared/kube/objects.ts';
import type { Observation } from '../../shared/stateful/keeping.ts';
import { CLAIMS, isOurs } from '../../shared/stateful/parts.ts';
import type { Deps } from './deps.ts';
import { clusterNameOf, type EtcdRestore, isOver, seedClaimOf } from './object.ts';
import { readSource } from './source.ts';
import type { FoundClaim, FoundCluster, State } from './state.ts';
import { findTaken } from './taken.ts';
import { readTarget } from './target.ts';

export async function observe(
  { kube, clock }: Pick<Deps, 'kube' | 'clock'>,
  restore: EtcdRestore,
  signal: AbortSignal,
): Promise<Observation<State>> {
  const nowMs = clock.nowMs();
  const none: State = {
    restore,
    nowMs,
    backup: undefined,
    target: undefined,
    taken: [],
    claim: undefined,
    job: undefined,
    pods: [],
    cluster: undefined,
  };
  if (isOver(restore) || isEnding(restore.object)) return { state: none, isRemembered: false };
  const { namespace } = restore;
  const { dryRun } = restore.spec;
  const claimAt = { namespace, name: seedClaimOf(restore) };
  const foundClaim = dryRun ? null : await kube.get(CLAIMS, claimAt, { signal });
  const claim = foundClaim === null ? undefined : claimOf(foundClaim, restore);
  const { job, pods } = await readJob({ kube, nowMs, signal }, restore, jobNameOf(restore));
  const clusterAt = { namespace, name: clusterNameOf(restore) };
  const foundCluster = await kube.get(ETCD_CLUSTERS, clusterAt, { signal });
  const cluster = foundCluster === null ? undefined : foundClusterOf(foundCluster);
  const seen = { ...none, claim, job, pods, cluster };
  return { state: { ...seen, ...(await before(kube, seen, signal)) }, isRemembered: false };
}

/** Asked only until the EtcdCluster of this restore is there. */
async function before(
  kube: KubeClient,
  { restore, claim, job, cluster }: State,
  signal: AbortSignal,
): Promise<Pick<State, 'backup' | 'target' | 'taken'>> {
  const { status, spec } = restore;
  const none = { backup: undefined, target: undefined, taken: [] };
  const isMade = status.etcdCluster !== undefined || isThatOf(restore, cluster);
  if (isMade || (spec.dryRun && status.backup !== undefined)) return none;
  // Nothing is made while its Job runs.
  if (job !== undefined && status.backup === undefined) return none;
  const own = claim?.isOurs === true ? claim.uid : undefined;
  const names = await findTaken(kube, restore, own, signal);
  const taken = cluster === undefined ? names : [`EtcdCluster ${clusterNameOf(restore)}`, ...names];
  if (status.job !== undefined || taken.length > 0) return { ...none, taken };
  const backup = await readSource(kube, restore, signal);
  const target = await readTarget(kube, restore, signal);
  return { backup, target, taken };
}

const isThatOf = ({ status }: EtcdRestore, cluster: FoundCluster | undefined): boolean =>
  status.backup !== undefined &&
  status.clusterId !== undefined &&
  cluster?.restores === status.clusterId;

function claimOf(object: KubeObject, restore: EtcdRestore): FoundClaim {
  const { name, uid, resourceVersion, deletionTimestamp, annotations = {} } = object.metadata;
  return {
    name,
    uid,
    resourceVersion,
    isOurs: isOurs(object, restore),
    isEnding: deletionTimestamp !== undefined,
    clusterId: annotations[CLUSTER_ID_ANNOTATION],
  };
}

function foundClusterOf(object: KubeObject): FoundCluster {
  const { uid, deletionTimestamp, annotations = {} } = object.metadata;
  // The API server holds it to its schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { clusterId, conditions = [] } = (object['status'] ?? {}) as EtcdClusterStatus;
  const of = (type: string) => conditions.find((one) => one.type === type);
  const [ready, degraded] = [of('Ready'), of('Degraded')];
  return {
    uid,
    restores: annotations[CLUSTER_ID_ANNOTATION],
    isEnding: deletionTimestamp !== undefined,
    clusterId,
    ready: ready && { ...reasonIn(ready), isTrue: ready.status === 'True' },
    trouble: degraded?.status === 'True' ? reasonIn(degraded) : undefined,
  };
}

const reasonIn = ({ reason, message }: Reason): Reason => ({ reason, message });
