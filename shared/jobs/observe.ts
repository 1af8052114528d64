// Reads a Job of a function, and the pods of it: how they ended, and why one waits. Secrets are
// never read: the kubelet says when one lacks. Writes nothing.
import { cut } from '../cut.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Reason } from '../kube/conditions.ts';
import { isRecord, textOf } from '../kube/json.ts';
import type { KubeList, KubeObject } from '../kube/objects.ts';
import { isOurs, PODS } from '../stateful/parts.ts';
import { podOf } from '../stateful/pods.ts';
import type { FoundJob, FoundPod, JobEnd, PodEnd } from './job.ts';

export const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' } as const;
const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;

/** Kubernetes' own label: the uid of the Job. */
const JOB_LABEL = 'batch.kubernetes.io/controller-uid';
/** Pages of large pods have fewer, and anybody with rights may label others so. */
const PODS_PER_PAGE = 50;
/** An eviction counts as no attempt, so that there may be many; a deadline bounds them. */
const PODS_MAX = 1_000;
const EVENTS_MAX = 50;
const MESSAGE_BYTES_MAX = 400;
const WORD_BYTES_MAX = 64;
/** Twice as much as a termination message may have: one that is longer stays too long. */
const RESULT_BYTES_MAX = 8_192;

/** The object that a Job is of. */
interface JobOwner {
  readonly namespace: string;
  readonly uid: string;
}

export interface JobReader {
  readonly kube: KubeClient;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export interface JobAndPods {
  readonly job: FoundJob | undefined;
  readonly pods: readonly FoundPod[];
}

export async function readJob(
  reader: JobReader,
  owner: JobOwner,
  name: string,
): Promise<JobAndPods> {
  const { kube, signal } = reader;
  const found = await kube.get(JOBS, { namespace: owner.namespace, name }, { signal });
  if (found === null) return { job: undefined, pods: [] };
  const job = jobOf(found, owner);
  const pods = job.isOurs ? await readPods(reader, owner, job) : [];
  const isPodless = job.isOurs && job.end === undefined && pods.length === 0;
  const trouble = isPodless ? await podlessness(reader, found) : undefined;
  return { job: { ...job, trouble }, pods };
}

/** Undefined where a pod is only on its way. */
async function podlessness(
  { kube, signal }: JobReader,
  job: KubeObject,
): Promise<Reason | undefined> {
  const { name } = job.metadata;
  const { spec } = job;
  if (isRecord(spec) && spec['suspend'] === true) {
    const message = `Job ${name} is suspended by somebody else: set its spec.suspend to false.`;
    return { reason: 'JobSuspended', message };
  }
  const refused = await readWarning(kube, job, signal);
  const message = `Job ${name} gets no pod: ${refused?.message}.`;
  return refused && { reason: 'PodRefused', message };
}

function jobOf(object: KubeObject, owner: JobOwner): FoundJob {
  const { name, uid, deletionTimestamp } = object.metadata;
  const status = isRecord(object['status']) ? object['status'] : {};
  return {
    name,
    uid,
    isOurs: isOurs(object, owner),
    isEnding: deletionTimestamp !== undefined,
    startedAt: timeIn(status['startTime']),
    end: jobEndIn(status['conditions']),
    trouble: undefined,
  };
}

const timeIn = (value: unknown): string | undefined => textOf(value) || undefined;

function jobEndIn(conditions: unknown): JobEnd | undefined {
  const all = Array.isArray(conditions) ? conditions.filter(isRecord) : [];
  const end = all.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  if (end === undefined) return undefined;
  return {
    isComplete: end['type'] === 'Complete',
    reason: textOf(end['reason']) || 'JobFailed',
    message: cut(textOf(end['message']), MESSAGE_BYTES_MAX),
    at: timeIn(end['lastTransitionTime']),
  };
}

async function readPods(
  reader: JobReader,
  { namespace }: JobOwner,
  job: FoundJob,
): Promise<readonly FoundPod[]> {
  const { kube, signal } = reader;
  const labelSelector = `${JOB_LABEL}=${job.uid}`;
  const selection = { namespace, labelSelector, limit: PODS_PER_PAGE, signal };
  const pods: FoundPod[] = [];
  let seen = 0;
  for await (const { items } of kube.pages(PODS, selection)) {
    const own = items.filter(({ metadata: { ownerReferences = [] } }) =>
      ownerReferences.some(({ uid, controller }) => uid === job.uid && controller === true),
    );
    pods.push(...(await Promise.all(own.map((one) => foundPodOf(reader, one)))));
    seen += items.length;
    if (seen >= PODS_MAX) break;
  }
  return pods;
}

async function foundPodOf(
  { kube, nowMs, signal }: JobReader,
  object: KubeObject,
): Promise<FoundPod> {
  const { name } = object.metadata;
  const status = isRecord(object['status']) ? object['status'] : {};
  const phase = textOf(status['phase']);
  const [ended, ends] = [podEndIn(status), endsIn(status)];
  const { trouble } = podOf(atWork(object, status), nowMs);
  const isSilent = phase === 'Pending' && trouble === undefined;
  const why = isSilent ? await readWarning(kube, object, signal) : trouble;
  const isTold = why !== undefined && why.message !== '';
  const message = `Pod ${name}: ${why?.message}.`;
  return { name, phase, ended, ends, trouble: isTold ? { ...why, message } : undefined };
}

/** The container that its turn has come for says why the pod waits. */
function atWork(object: KubeObject, status: Readonly<Record<string, unknown>>): KubeObject {
  const initial = listIn(status['initContainerStatuses']);
  const now = initial.find((one) => endIn(one) === undefined);
  if (now === undefined) return object;
  return { ...object, status: { ...status, containerStatuses: [now] } };
}

/** In the order in which they run: one that fails is the last. */
function podEndIn(status: Readonly<Record<string, unknown>>): PodEnd | undefined {
  const initial = listIn(status['initContainerStatuses']).map(endIn);
  const last = listIn(status['containerStatuses']).map(endIn)[0];
  return initial.find((one) => one !== undefined && one.exitCode !== 0) ?? last;
}

const endsIn = (status: Readonly<Record<string, unknown>>): readonly PodEnd[] =>
  [status['initContainerStatuses'], status['containerStatuses']]
    .flatMap(listIn)
    .flatMap((one) => endIn(one) ?? []);

const listIn = (statuses: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(statuses) ? statuses.filter(isRecord) : [];

function endIn({ name, state }: Readonly<Record<string, unknown>>): PodEnd | undefined {
  const ended = isRecord(state) ? state['terminated'] : undefined;
  if (!isRecord(ended) || typeof ended['exitCode'] !== 'number') return undefined;
  const message = cut(textOf(ended['message']), RESULT_BYTES_MAX);
  const reason = cut(textOf(ended['reason']), WORD_BYTES_MAX);
  const at = textOf(ended['finishedAt']);
  return { container: textOf(name), exitCode: ended['exitCode'], reason, message, at };
}

/** An Event alone tells what cannot be mounted, such as a Secret that lacks. */
async function readWarning(
  kube: KubeClient,
  { metadata: { uid, namespace = '' } }: KubeObject,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const fieldSelector = `involvedObject.uid=${uid},type=Warning`;
  const selection = { namespace, fieldSelector, limit: EVENTS_MAX, signal };
  const items = await firstOf(kube.pages(EVENTS, selection));
  const [newest] = items
    .filter(({ type, involvedObject: about }) => {
      return type === 'Warning' && isRecord(about) && about['uid'] === uid;
    })
    .toSorted((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1));
  if (newest === undefined) return undefined;
  const line = textOf(newest['message']).replaceAll(/\s+/g, ' ').trim();
  return { reason: 'PodWaits', message: cut(line.replace(/\.$/, ''), MESSAGE_BYTES_MAX) };
}

/** One page: others may write any number of them. */
async function firstOf(pages: AsyncIterable<KubeList>): Promise<readonly KubeObject[]> {
  for await (const { items } of pages) return items;
  return [];
}

const timeOf = ({ metadata, ...event }: KubeObject): string =>
  textOf(event['lastTimestamp']) || (metadata.creationTimestamp ?? '');
