// Tells what came of a backup from its Job and what the pods of that have said. There is a backup
// only when Kubernetes says that the Job succeeded, and its pods that succeeded tell the same
// facts: one that was given up, and the one that took its place. One that is stored, and whose
// rehearsal failed, is none that counts. Pure.
import type { BackupError, BackupFacts } from '../../shared/api/etcd-backup.ts';
import { etcdutlError } from '../../shared/jobs/etcdutl.ts';
import type { FoundPod, PodEnd } from '../../shared/jobs/job.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { destinationOf, locationOf } from './object.ts';
import { CONTAINER } from './render/job.ts';
import { type Result, resultIn, type Stored } from './result.ts';
import type { State } from './state.ts';

export type Outcome =
  | (Stored & { readonly at: string })
  | { readonly failure: Reason; readonly at: string };

/** Undefined while it goes on, and before it has begun. */
export function outcomeOf(state: State): Outcome | undefined {
  const { backup, job, nowMs } = state;
  const { job: known } = backup.status;
  if (known !== undefined && job?.uid !== known.uid) {
    return { failure: jobGone(state, known.name), at: timestamp(nowMs) };
  }
  if (job?.isOurs !== true || job.end === undefined) return undefined;
  const at = job.end.at ?? timestamp(nowMs);
  if (!job.end.isComplete) return { failure: failureOf(state, job.end), at };
  const all = state.pods.flatMap(({ phase, ended }) => {
    const result = ended && phase === 'Succeeded' ? saidBy(state, ended) : undefined;
    return result !== undefined && 'facts' in result ? [result] : [];
  });
  const isRehearsed = backup.spec.rehearsal !== undefined;
  const whole = all.filter(({ rehearsal }) => (rehearsal !== undefined) === isRehearsed);
  const [first] = whole;
  const told = new Set(whole.map(({ facts }) => JSON.stringify(facts)));
  if (first !== undefined && told.size === 1) return { ...first, at };
  return { failure: resultLost(state, job.name, whole.length), at };
}

/** The facts of a backup that is stored and has yet to be rehearsed, as the last attempt says. */
export function storedBy(state: State): BackupFacts | undefined {
  const { spec, status } = state.backup;
  if (spec.rehearsal === undefined) return undefined;
  const taken = state.pods
    .flatMap(({ ends }) => ends)
    .filter(({ container, exitCode }) => container === CONTAINER && exitCode === 0)
    .toSorted((one, other) => (one.at < other.at ? 1 : -1))
    .flatMap((end) => {
      const result = saidBy(state, end);
      return result !== undefined && 'facts' in result ? [result.facts] : [];
    });
  // A pod that is gone may have told it.
  return taken[0] ?? status.backup;
}

const saidBy = (
  { backup }: Pick<State, 'backup'>,
  { message }: Pick<PodEnd, 'message'>,
): Result | undefined =>
  resultIn(message, destinationOf(backup), backup.spec.encryption !== undefined);

/** Undefined when it has not said why. All parts behind the first are those of a rehearsal. */
function errorBy(state: State, end: PodEnd): BackupError | undefined {
  const result = saidBy(state, end);
  if (result !== undefined && !('error' in result)) return undefined;
  const error = result?.error ?? etcdutlError(end);
  const isTaking = state.backup.spec.rehearsal === undefined || end.container === CONTAINER;
  if (error === undefined || isTaking) return error;
  return { code: 'REHEARSAL_FAILED', message: shown(error) };
}

/** How the last attempt failed, as far as its pod could say. */
export function lastErrorOf(state: State): BackupError | undefined {
  const failed = state.pods.flatMap(({ ended }) => (ended && ended.exitCode !== 0 ? [ended] : []));
  const [last] = failed.toSorted((one, other) => (one.at < other.at ? 1 : -1));
  return last && errorBy(state, last);
}

/** How the pod that failed last has ended, in a sentence; undefined when none has. */
export function lastFailureOf(state: State): string | undefined {
  const failed = state.pods.filter(({ phase }) => phase === 'Failed');
  const [last] = failed.toSorted((one, other) => (endOf(one) < endOf(other) ? 1 : -1));
  if (last === undefined) return undefined;
  const { name, ended, trouble } = last;
  const error = ended && errorBy(state, ended);
  if (error !== undefined) return shown(error);
  if (ended?.reason === 'OOMKilled') {
    const why = 'it takes more memory than spec.resources.limits.memory lets it';
    return `Pod ${name} was ended: ${why}. Another EtcdBackup may have more.`;
  }
  if (trouble !== undefined) return trouble.message;
  return `Pod ${name} has ended with code ${ended?.exitCode ?? 'unknown'}, and has not said why.`;
}

const endOf = ({ ended }: FoundPod): string => ended?.at ?? '';

const shown = ({ code, message }: BackupError): string => `${code}: ${message}`;

function failureOf(state: State, end: Reason): Reason {
  const failure = failureOfJob(state, end);
  if (storedBy(state) === undefined) return failure;
  const message =
    `The backup is stored at ${locationOf(state.backup)}, and its rehearsal failed, so it counts ` +
    `for none. It stays there to be looked at. ${failure.message}`;
  return { reason: 'RehearsalFailed', message };
}

function failureOfJob(state: State, { reason, message }: Reason): Reason {
  const { spec, status } = state.backup;
  const before = status.error && shown(status.error);
  const last = lastFailureOf(state);
  if (reason === 'DeadlineExceeded') {
    // The pod that waited is deleted by then; what it waited for was told.
    const waited =
      state.pods.find(({ trouble }) => trouble !== undefined)?.trouble ??
      status.conditions?.find((one) => one.type === 'Degraded' && one.status === 'True');
    const why = last ?? waited?.message ?? before ?? SILENT;
    const text = `It was not done within ${spec.deadlineSeconds} seconds. ${why}`;
    return { reason: 'DeadlineExceeded', message: text };
  }
  const error = lastErrorOf(state);
  if (error !== undefined) return { reason: 'BackupFailed', message: shown(error) };
  const told = `${reason}: ${message} ${last ?? before ?? SILENT}`;
  return { reason: 'BackupFailed', message: told };
}

const SILENT = 'Its pod has not said why.';

const jobGone = ({ backup }: State, name: string): Reason => ({
  reason: 'JobGone',
  message:
    `Job ${name} was deleted, or another one has its name, before its result was read. There is ` +
    `a backup at ${locationOf(backup)} if its facts lie beside it, in a file that ends in .json.`,
});

const resultLost = ({ backup }: State, name: string, count: number): Reason => ({
  reason: 'ResultLost',
  message:
    `Job ${name} has succeeded, and ${count === 0 ? 'no pod of it tells' : `${count} pods tell`} ` +
    `what is known of the backup. There is one at ${locationOf(backup)} if its facts lie beside ` +
    'it, in a file that ends in .json.',
});
