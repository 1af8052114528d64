// Decides the next step. The first planner that has a step, or something to wait for, wins. A
// restore that is over is left alone for good; whatever was made is noted before anything else is;
// and a failed one takes back its own claim, and nothing else. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { firstOf, NOTHING, type Planner, waitFor } from '../../shared/stateful/decision.ts';
import type { FoundJob } from '../../shared/jobs/job.ts';
import { jobNameOf } from '../../shared/jobs/job-name.ts';
import { isEnding } from '../../shared/kube/objects.ts';
import type { Decision, Step } from './decision.ts';
import { clusterIdOf, clusterNameOf, isOver, seedClaimOf } from './object.ts';
import { failureOf, isDone, restoredBy } from './outcome.ts';
import { type FoundClaim, isHandedOver, type Records, recordsOf, type State } from './state.ts';

const PLANNERS: readonly Planner<State, Step>[] = [
  leave,
  noteClaim,
  noteCluster,
  fail,
  dropJob,
  end,
  awaitSource,
  plan,
  makeClaim,
  refuseTakenJob,
  noteRestored,
  awaitJob,
  makeJob,
  makeCluster,
  handOver,
  awaitCluster,
];

export const decide = (state: State): Decision => firstOf(PLANNERS, state);

function leave({ restore }: State): Decision | undefined {
  return isOver(restore) || isEnding(restore.object) ? NOTHING : undefined;
}

const remember = (state: State, added: Records, next: string): Decision => ({
  step: { type: 'write-records', records: { ...recordsOf(state), ...added } },
  next,
});

function noteClaim(state: State): Decision | undefined {
  const { restore, claim } = state;
  if (claim?.isOurs !== true || restore.status.claim !== undefined) return undefined;
  const { name, uid } = claim;
  return remember(state, { claim: { name, uid } }, `Note claim ${name}`);
}

function noteCluster(state: State): Decision | undefined {
  const { status } = state.restore;
  if (!isOurCluster(state) || status.etcdCluster !== undefined) return undefined;
  const { uid = '' } = state.cluster ?? {};
  const name = clusterNameOf(state.restore);
  return remember(state, { etcdCluster: { name, uid } }, `Note EtcdCluster ${name}`);
}

/** No other one is to start with the data of this restore. */
const isOurCluster = ({ restore: { status }, cluster }: State): boolean =>
  status.backup !== undefined &&
  cluster?.restores !== undefined &&
  cluster.restores === status.clusterId;

/** The reason first, since what it is told from goes with the rest. */
function fail(state: State): Decision | undefined {
  const failure = failureOf(state);
  if (failure === undefined) return undefined;
  const { restore, job } = state;
  const claim = ownClaim(state);
  const ownJob = job?.isOurs === true && !job.isEnding ? job : undefined;
  if (claim === undefined && ownJob === undefined) return { next: 'Nothing', trouble: failure };
  const { reason, message } = failure;
  if (restore.status.failure === undefined) {
    return remember(state, { failure: { reason, message } }, 'Note why it failed');
  }
  if (claim !== undefined && !claim.isEnding) {
    const next = `Delete claim ${claim.name}`;
    return { step: { type: 'delete-claim', claim }, next, trouble: failure };
  }
  if (ownJob !== undefined) return { ...deleteJob(ownJob), trouble: failure };
  const left = `${message} Claim ${claim?.name ?? ''} is being deleted.`;
  return waitFor('Let its claim go', [{ reason, message: left }]);
}

const deleteJob = (job: FoundJob): Decision => ({
  step: { type: 'delete-job', job },
  next: `Delete Job ${job.name}`,
});

/** Made by this restore, and nobody else's yet. */
function ownClaim(state: State): FoundClaim | undefined {
  const { claim, restore } = state;
  const isOwn = claim?.isOurs === true && claim.uid === restore.status.claim?.uid;
  return isOwn && !isHandedOver(state) ? claim : undefined;
}

/** A pod that has ended would hold the claim for as long as it is there. */
function dropJob({ restore, job }: State): Decision | undefined {
  if (restore.status.backup === undefined || job?.isOurs !== true) return undefined;
  return job.isEnding ? undefined : deleteJob(job);
}

function end(state: State): Decision | undefined {
  return isDone(state) ? NOTHING : undefined;
}

function awaitSource({ backup, target, job }: State): Decision | undefined {
  if (job !== undefined) return undefined;
  for (const one of [target, backup]) {
    if (one === undefined || !('isFinal' in one)) continue;
    const { reason, message } = one;
    return waitFor('Look at the backup', [{ reason, message }], { reason, message });
  }
  return undefined;
}

/** Written before anything is made, so that whatever is made later is made for the same. */
function plan(state: State): Decision | undefined {
  const { restore, backup, target } = state;
  if (restore.status.clusterId !== undefined) return undefined;
  if (backup === undefined || 'isFinal' in backup) return undefined;
  if (target === undefined || 'isFinal' in target) return undefined;
  const records = {
    location: backup.location,
    image: target.image,
    clusterId: clusterIdOf(restore, target),
  };
  return remember(state, records, `Restore ${backup.location}`);
}

function makeClaim({ restore, claim, job, target }: State): Decision | undefined {
  if (restore.spec.dryRun || claim !== undefined || job !== undefined) return undefined;
  if (restore.status.claim !== undefined) return undefined;
  if (target === undefined || 'isFinal' in target) return undefined;
  return { step: { type: 'make-claim', target }, next: `Create claim ${seedClaimOf(restore)}` };
}

function refuseTakenJob({ job }: State): Decision | undefined {
  if (job === undefined || job.isOurs) return undefined;
  const message = `Job ${job.name} is there already and is not ours; delete it.`;
  const trouble = { reason: 'NameTaken', message };
  return waitFor(`Create Job ${job.name}`, [trouble], trouble);
}

function noteRestored(state: State): Decision | undefined {
  if (state.restore.status.backup !== undefined) return undefined;
  const restored = restoredBy(state);
  if (restored === undefined) return undefined;
  const { facts: backup, revision } = restored;
  return remember(state, { backup, revision }, 'Note what was restored');
}

function awaitJob({ restore, job, pods }: State): Decision | undefined {
  if (job === undefined || restore.status.backup !== undefined) return undefined;
  const next = `Restore it in Job ${job.name}`;
  if (job.isEnding) {
    const message = `Job ${job.name} is being deleted.`;
    return waitFor(next, [{ reason: 'JobEnding', message }]);
  }
  const present = pods.filter(({ phase, ended }) => phase !== 'Failed' && ended === undefined);
  const trouble = present.find((pod) => pod.trouble !== undefined)?.trouble ?? job.trouble;
  if (trouble !== undefined) return waitFor(next, [trouble], trouble);
  const message = `Job ${job.name} restores ${restore.status.location ?? 'it'}.`;
  return waitFor(next, [{ reason: 'Running', message }]);
}

function makeJob({ restore, backup, target }: State): Decision | undefined {
  if (restore.status.backup !== undefined) return undefined;
  if (backup === undefined || 'isFinal' in backup) return undefined;
  if (target === undefined || 'isFinal' in target) return undefined;
  return { step: { type: 'make-job', backup, target }, next: `Create Job ${jobNameOf(restore)}` };
}

function makeCluster({ restore, cluster }: State): Decision | undefined {
  if (cluster !== undefined || restore.status.etcdCluster !== undefined) return undefined;
  if (restore.status.backup === undefined) return undefined;
  return {
    step: { type: 'make-cluster' },
    next: `Create EtcdCluster ${clusterNameOf(restore)}`,
  };
}

/** Only now there is somebody whose it may be; nobody else starts on it. */
function handOver(state: State): Decision | undefined {
  const { claim, restore } = state;
  if (claim === undefined || restore.status.etcdCluster === undefined) return undefined;
  if (isHandedOver(state)) return undefined;
  const next = `Give claim ${claim.name} to EtcdCluster ${clusterNameOf(restore)}`;
  return { step: { type: 'hand-over', claim }, next };
}

function awaitCluster({ restore, cluster }: State): Decision | undefined {
  if (cluster === undefined) return undefined;
  const name = clusterNameOf(restore);
  const { message = 'Nobody has looked at it yet.' } = cluster.trouble ?? cluster.ready ?? {};
  const waits: Reason = {
    reason: 'EtcdClusterStarting',
    message: `EtcdCluster ${name} starts on what was restored: ${message}`,
  };
  const trouble = cluster.trouble && { reason: 'EtcdClusterDegraded', message: waits.message };
  return waitFor(`Start EtcdCluster ${name}`, [trouble ?? waits], trouble);
}
