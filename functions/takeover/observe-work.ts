// Reads what only matters while a plan is carried out or taken back: alarms of the old members,
// all that was made for the takeover, and some of the keys when it is time for it. Writes nothing.
import {
  ETCD_BACKUPS,
  type EtcdBackupSpec,
  type EtcdBackupStatus,
} from '../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import { CLUSTER_ID_ANNOTATION } from '../../shared/api/etcd-peer.ts';
import {
  ETCD_RESTORE_LABEL,
  ETCD_RESTORES,
  type EtcdRestoreSpec,
  type EtcdRestoreStatus,
} from '../../shared/api/etcd-restore.ts';
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import type { Clock } from '../../shared/clock.ts';
import { Failure } from '../../shared/errors.ts';
import type { EtcdAlarm } from '../../shared/etcd/admin/alarms.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { ownObjectOf } from '../../shared/kube/own-object.ts';
import { CLAIMS, isOurs } from '../../shared/stateful/parts.ts';
import { accessToNew, accessToOld, type Known } from './access.ts';
import { answersOf } from './answers.ts';
import { compareKeys } from './compare.ts';
import type { Door } from './door.ts';
import { foundCluster, madeOf, memberClaims, newPods } from './find-new.ts';
import type { Takeover } from './object.ts';
import { isUndoing, madeNameOf } from './records.ts';
import type { FoundCluster, FoundJob, FoundPod, State, Work } from './state.ts';

const ANSWERS_WITHIN_MS = 5_000;

interface Looking {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly door: Pick<Door, 'alarms' | 'heads'>;
  readonly signal: AbortSignal;
}

type Seen = Known & Pick<State, 'pods' | 'members'>;

export async function observeWork(
  looking: Looking,
  takeover: Takeover,
  work: TakeoverWork,
  seen: Seen,
): Promise<Work> {
  const claims = isUndoing(work) ? await memberClaims(looking, takeover, work.newClusterId) : [];
  const made = await readMade(looking, takeover, work);
  const alarms = await readAlarms(looking, seen);
  const comparison = await compare(looking, { ...seen, ...made, takeover, work });
  return { ...made, memberClaims: claims, alarms, comparison };
}

type Made = Pick<Work, 'claim' | 'backup' | 'restore' | 'cluster'>;

async function readMade(looking: Looking, takeover: Takeover, work: TakeoverWork): Promise<Made> {
  const name = madeNameOf(takeover.name, work);
  const get = async (ref: ResourceRef, at = name): Promise<KubeObject | undefined> =>
    read(looking, ref, { namespace: takeover.namespace, name: at });
  const [claim, backup, restore] = [
    await get(CLAIMS),
    await get(ETCD_BACKUPS),
    await get(ETCD_RESTORES),
  ];
  const cluster = await get(ETCD_CLUSTERS, takeover.spec.into.name);
  return {
    claim: claim && madeOf(claim, isOurs(claim, takeover)),
    backup: backup && backupOf(backup, takeover),
    restore: restore && restoreOf(restore, takeover),
    cluster: cluster && clusterOf(cluster, name, work),
  };
}

/** Where a kind is not known there is none of it. */
async function read(
  { kube, signal }: Looking,
  ref: ResourceRef,
  target: { readonly namespace: string; readonly name: string },
): Promise<KubeObject | undefined> {
  try {
    return (await kube.get(ref, target, { signal })) ?? undefined;
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined;
    throw error;
  }
}

const NOBODY = { reason: 'NotLookedAt', message: 'Nobody has looked at it yet.' };

interface Conditions {
  readonly conditions?: readonly (Reason & { readonly type: string; readonly status: string })[];
}

function saysIn({ conditions = [] }: Conditions): Pick<FoundJob, 'says' | 'isDegraded'> {
  const of = (type: string) => conditions.find((one) => one.type === type);
  const degraded = of('Degraded');
  const isDegraded = degraded?.status === 'True';
  const { reason, message } = (isDegraded ? degraded : of('Complete')) ?? NOBODY;
  return { says: { reason, message }, isDegraded };
}

function backupOf(object: KubeObject, takeover: Takeover): FoundJob {
  const { status } = ownObjectOf<EtcdBackupSpec, EtcdBackupStatus>(object);
  const { phase, backup } = status;
  const made = madeOf(object, isOurs(object, takeover));
  const { revision, keys, clusterId } = backup ?? {};
  return { ...made, phase, revision, keys, clusterId, ...saysIn(status) };
}

function restoreOf(object: KubeObject, takeover: Takeover): FoundJob {
  const { status } = ownObjectOf<EtcdRestoreSpec, EtcdRestoreStatus>(object);
  const { phase, revision, backup, clusterId } = status;
  const made = madeOf(object, isOurs(object, takeover));
  return { ...made, phase, revision, keys: backup?.keys, clusterId, ...saysIn(status) };
}

/** Ours is the one that our EtcdRestore has made. */
function clusterOf(object: KubeObject, restore: string, work: TakeoverWork): FoundCluster {
  const { labels = {}, annotations = {} } = object.metadata;
  const born = annotations[CLUSTER_ID_ANNOTATION];
  const isOwn = labels[ETCD_RESTORE_LABEL] === restore && born === work.newClusterId;
  return foundCluster(object, isOwn && born !== undefined, work.newClusterId);
}

/** Those that do not answer are told of by their silence elsewhere. */
async function readAlarms(
  { door, signal }: Looking,
  seen: Seen,
): Promise<ReadonlyMap<string, readonly EtcdAlarm[]>> {
  const options = { timeoutMs: ANSWERS_WITHIN_MS, signal };
  const asked = answeringPods(seen).map(async (pod) => {
    try {
      return [[pod.name, await door.alarms(accessToOld(seen, [pod]), options)] as const];
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Failure) return [];
      throw error;
    }
  });
  return new Map((await Promise.all(asked)).flat());
}

function answeringPods({ pods, members }: Seen): readonly FoundPod[] {
  const answered = new Set(answersOf({ members }).map(({ pod }) => pod));
  return pods.filter(({ name }) => answered.has(name));
}

interface Comparing extends Made, Seen {
  readonly takeover: Takeover;
  readonly work: TakeoverWork;
}

async function compare(looking: Looking, seen: Comparing): Promise<Work['comparison']> {
  const { takeover, work, restore, cluster } = seen;
  const { frozen, compared } = work;
  // Before it is begun, and for a look that begins it, nobody waits for a slow member.
  const isBegun = takeover.status.steps?.at(-1)?.name === 'Compare' && !isUndoing(work);
  const isTime = isBegun && frozen?.isSteady === true && compared?.isWhole !== true;
  if (!isTime || restore?.phase !== 'Complete' || cluster?.isReady !== true) return undefined;
  const old = accessToOld(seen, answeringPods(seen));
  const now = accessToNew(seen, await newPods(looking, takeover));
  if (old.endpoints.length === 0 || now.endpoints.length === 0) {
    return { reason: 'NotCompared', message: 'No member answers whose keys could be read.' };
  }
  return compareKeys(looking, { old, now, revision: frozen.revision, before: compared });
}
