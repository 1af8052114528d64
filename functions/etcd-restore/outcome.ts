// Tells what came of a restore: why it has failed, what its Job has restored, and whether it is
// done. An object that was recorded and is gone, or is another one by now, is never made again.
// Pure.
import type { BackupError } from '../../shared/api/etcd-backup.ts';
import type { FoundJob, JobEnd } from '../../shared/jobs/job.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { listed } from '../../shared/stateful/decision.ts';
import { clusterNameOf, seedClaimOf } from './object.ts';
import { errorIn, type Restored, restoredIn } from './result.ts';
import { isHandedOver, type State } from './state.ts';

/** Undefined while it goes on, and when it is done. */
export function failureOf(state: State): Reason | undefined {
  const { status } = state.restore;
  if (isDone(state)) return undefined;
  if (status.failure !== undefined) return status.failure;
  if (status.etcdCluster !== undefined) return clusterGone(state) ?? claimGone(state);
  const ended = status.backup === undefined ? (jobGone(state) ?? jobFailed(state)) : undefined;
  return ended ?? taken(state) ?? lacking(state) ?? claimGone(state);
}

function clusterGone({ restore, cluster, claim }: State): Reason | undefined {
  const known = restore.status.etcdCluster;
  if (cluster?.uid === known?.uid && cluster?.isEnding !== true) return undefined;
  const name = `EtcdCluster ${restore.namespace}/${clusterNameOf(restore)}`;
  const left = isHandedOver({ restore, claim })
    ? `Claim ${seedClaimOf(restore)} has the restored data: an EtcdCluster of this name goes on ` +
      'with it.'
    : 'Create another EtcdRestore.';
  const message = `${name} was deleted before it was Ready. ${left}`;
  return { reason: 'EtcdClusterGone', message };
}

function claimGone({ restore, claim, cluster }: State): Reason | undefined {
  const { claim: known, clusterId, etcdCluster } = restore.status;
  const isThere = claim?.uid === known?.uid && claim?.isEnding !== true;
  // A dry run has none; and once a member has it, it is that of the EtcdCluster.
  if (known === undefined || isThere || cluster?.clusterId === clusterId) return undefined;
  const left =
    etcdCluster === undefined
      ? ''
      : ` Delete EtcdCluster ${etcdCluster.name}, which has no data and starts nothing.`;
  const message =
    `Claim ${known.name} (uid ${known.uid}) was deleted, and with it what was restored.${left} ` +
    'Create another EtcdRestore.';
  return { reason: 'ClaimGone', message };
}

function jobGone({ restore, job }: State): Reason | undefined {
  const known = restore.status.job;
  if (known === undefined || job?.uid === known.uid) return undefined;
  const message =
    `Job ${known.name} was deleted, or another one has its name, before its result was read. ` +
    'Create another EtcdRestore.';
  return { reason: 'JobGone', message };
}

function jobFailed(state: State): Reason | undefined {
  const { job } = state;
  if (job?.isOurs !== true || job.end === undefined) return undefined;
  if (!job.end.isComplete) return failureIn(state, job.end);
  return restoredBy(state) === undefined ? resultLost(job) : undefined;
}

function failureIn(state: State, { reason, message }: JobEnd): Reason {
  const error = lastErrorOf(state);
  if (reason === 'DeadlineExceeded') {
    const { deadlineSeconds } = state.restore.spec;
    const waited = state.pods.find(({ trouble }) => trouble !== undefined)?.trouble;
    const last = error?.message ?? waited?.message ?? 'Its pod has not said why';
    const text = `It was not done within ${deadlineSeconds} seconds. ${last}`;
    return { reason: 'DeadlineExceeded', message: text };
  }
  const told = error === undefined ? `${message} Its pod has not said why.` : error.message;
  return { reason: 'RestoreFailed', message: `${error?.code ?? reason}: ${told}` };
}

const resultLost = ({ name }: FoundJob): Reason => ({
  reason: 'ResultLost',
  message:
    `Job ${name} has succeeded, and what its pod said of it is gone, or has not the form of our ` +
    'program. Create another EtcdRestore.',
});

/** Read from exactly one pod that has succeeded. */
export function restoredBy({ job, pods }: Pick<State, 'job' | 'pods'>): Restored | undefined {
  if (job?.isOurs !== true || job.end?.isComplete !== true) return undefined;
  const all = pods.flatMap(({ phase, ended }) => {
    const said = ended && phase === 'Succeeded' ? restoredIn(ended) : undefined;
    return said ?? [];
  });
  return all.length === 1 ? all[0] : undefined;
}

/** How the last attempt failed, as far as its pod could say. */
export function lastErrorOf({ pods }: Pick<State, 'pods'>): BackupError | undefined {
  const failed = pods.flatMap(({ ended }) => (ended && ended.exitCode !== 0 ? [ended] : []));
  const [last] = failed.toSorted((one, other) => (one.at < other.at ? 1 : -1));
  return last && errorIn(last);
}

/** A restore never goes into what is there, also when that comes while it runs. */
function taken({ restore, taken: found }: State): Reason | undefined {
  if (found.length === 0) return undefined;
  const message =
    `A restore makes a new EtcdCluster, and of ${restore.namespace}/${clusterNameOf(restore)} ` +
    `there is already: ${listed(found)}. Create another EtcdRestore with another name, or when ` +
    'these are gone.';
  return { reason: 'NameTaken', message };
}

function lacking({ backup, target }: State): Reason | undefined {
  const lacks = [target, backup].flatMap((one) =>
    one !== undefined && 'isFinal' in one && one.isFinal ? one : [],
  );
  const [first] = lacks;
  return first && { reason: first.reason, message: first.message };
}

/** The new etcd serves what was restored; or a dry run has shown that it would. */
export function isDone({ restore, cluster }: Pick<State, 'restore' | 'cluster'>): boolean {
  const { clusterId, backup } = restore.status;
  if (backup === undefined) return false;
  if (restore.spec.dryRun) return true;
  return cluster?.clusterId === clusterId && cluster?.ready?.isTrue === true;
}
