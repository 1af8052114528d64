// Reads the state of a backup: its Job, the pods of that, and as long as there is no Job the
// EtcdCluster that it is of. Secrets are never read: the kubelet says when one lacks. Nothing is
// read for a backup that is over. Writes nothing.
import type { SecretKey } from '../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS, type EtcdClusterSpec } from '../../shared/api/etcd-cluster.ts';
import { CLIENT_PORT } from '../../shared/api/etcd-names.ts';
import { cut } from '../../shared/cut.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import type { KubeList, KubeObject } from '../../shared/kube/objects.ts';
import type { Observation } from '../../shared/stateful/keeping.ts';
import { isOurs, PODS } from '../../shared/stateful/parts.ts';
import { podOf } from '../../shared/stateful/pods.ts';
import type { Deps } from './deps.ts';
import { type EtcdBackup, isEnding, isOver, jobNameOf } from './object.ts';
import type { FoundJob, FoundPod, JobEnd, PodEnd, Source, State } from './state.ts';

export const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' } as const;
const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;

/** Kubernetes' own label: the uid of the Job. */
const JOB_LABEL = 'batch.kubernetes.io/controller-uid';
/** A Job makes no more than a handful; anybody with rights may label others so. */
const PODS_MAX = 50;
const EVENTS_MAX = 50;
const MESSAGE_BYTES_MAX = 400;
/** Twice as much as a termination message may have: one that is longer stays too long. */
const RESULT_BYTES_MAX = 8_192;

export async function observe(
  { kube, clock }: Pick<Deps, 'kube' | 'clock'>,
  backup: EtcdBackup,
  signal: AbortSignal,
): Promise<Observation<State>> {
  const nowMs = clock.nowMs();
  const none = { backup, nowMs, source: undefined, job: undefined, pods: [] };
  if (isOver(backup) || isEnding(backup)) return { state: none, isRemembered: false };
  const at = { namespace: backup.namespace, name: jobNameOf(backup) };
  const found = await kube.get(JOBS, at, { signal });
  if (found === null) {
    // One that was noted is not made again, whatever became of it.
    const isNoted = backup.status.job !== undefined;
    const source = isNoted ? undefined : await readSource(kube, backup, signal);
    return { state: { ...none, source }, isRemembered: false };
  }
  const job = jobOf(found, backup);
  const pods = job.isOurs ? await readPods(kube, backup, job, nowMs, signal) : [];
  return { state: { ...none, job, pods }, isRemembered: false };
}

async function readSource(
  kube: KubeClient,
  { namespace, spec }: EtcdBackup,
  signal: AbortSignal,
): Promise<Source | Reason> {
  const { etcdCluster, endpoints = [], tls, login } = spec.source;
  if (etcdCluster === undefined) {
    return { endpoints, ...(tls && { tlsSecret: tls.secretName }), ...(login && { login }) };
  }
  const { name } = etcdCluster;
  const found = await kube.get(ETCD_CLUSTERS, { namespace, name }, { signal });
  if (found === null) {
    const message =
      `There is no EtcdCluster ${namespace}/${name}. It goes on when there is; for another one ` +
      'create another EtcdBackup.';
    return { reason: 'EtcdClusterMissing', message };
  }
  return sourceOf(found);
}

/** A member gives its snapshot without a quorum, too, so that is not asked for. */
function sourceOf({ metadata: { name, namespace = '' }, ...rest }: KubeObject): Source | Reason {
  // The API server holds both to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec, status = {} } = rest as unknown as {
    readonly spec: EtcdClusterSpec;
    readonly status?: { readonly clusterId?: string };
  };
  if (spec.replicas === 0 || status.clusterId === undefined) {
    const why = spec.replicas === 0 ? 'hibernates' : 'has no member yet';
    const message = `EtcdCluster ${namespace}/${name} ${why}. It goes on when one runs.`;
    return { reason: 'EtcdClusterAway', message };
  }
  const { mode, secretName = `${name}-client` } = spec.tls.clients;
  const scheme = mode === 'Mutual' ? 'https' : 'http';
  const passwordSecret: SecretKey = { name: `${name}-root`, key: 'password' };
  return {
    endpoints: [`${scheme}://${name}.${namespace}.svc:${CLIENT_PORT}`],
    ...(mode === 'Mutual' ? { tlsSecret: secretName } : {}),
    ...(spec.auth === undefined ? {} : { login: { user: 'root', passwordSecret } }),
  };
}

export function jobOf(object: KubeObject, backup: Pick<EtcdBackup, 'uid'>): FoundJob {
  const { name, uid, deletionTimestamp } = object.metadata;
  const status = isRecord(object['status']) ? object['status'] : {};
  return {
    name,
    uid,
    isOurs: isOurs(object, backup),
    isEnding: deletionTimestamp !== undefined,
    startedAt: timeIn(status['startTime']),
    end: jobEndIn(status['conditions']),
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
  kube: KubeClient,
  { namespace }: EtcdBackup,
  job: FoundJob,
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly FoundPod[]> {
  const labelSelector = `${JOB_LABEL}=${job.uid}`;
  const selection = { namespace, labelSelector, limit: PODS_MAX, signal };
  const items = await firstOf(kube.pages(PODS, selection));
  const own = items.filter(({ metadata: { ownerReferences = [] } }) =>
    ownerReferences.some(({ uid, controller }) => uid === job.uid && controller === true),
  );
  return Promise.all(own.map((object) => foundPodOf(kube, object, nowMs, signal)));
}

async function foundPodOf(
  kube: KubeClient,
  object: KubeObject,
  nowMs: number,
  signal: AbortSignal,
): Promise<FoundPod> {
  const { name } = object.metadata;
  const status = isRecord(object['status']) ? object['status'] : {};
  const phase = textOf(status['phase']);
  const ended = podEndIn(status['containerStatuses']);
  const { trouble } = podOf(object, nowMs);
  const isSilent = phase === 'Pending' && trouble === undefined;
  const why = isSilent ? await readWarning(kube, object, signal) : trouble;
  return {
    name,
    phase,
    ended,
    trouble: why && { ...why, message: `Pod ${name}: ${why.message}.` },
  };
}

function podEndIn(statuses: unknown): PodEnd | undefined {
  const [container] = Array.isArray(statuses) ? statuses.filter(isRecord) : [];
  const state = container?.['state'];
  const ended = isRecord(state) ? state['terminated'] : undefined;
  if (!isRecord(ended) || typeof ended['exitCode'] !== 'number') return undefined;
  const message = cut(textOf(ended['message']), RESULT_BYTES_MAX);
  return { exitCode: ended['exitCode'], message, at: textOf(ended['finishedAt']) };
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
  const message = cut(textOf(newest['message']).replaceAll(/\s+/g, ' ').trim(), MESSAGE_BYTES_MAX);
  return { reason: 'PodWaits', message };
}

/** One page: others may write any number of them. */
async function firstOf(pages: AsyncIterable<KubeList>): Promise<readonly KubeObject[]> {
  for await (const { items } of pages) return items;
  return [];
}

const timeOf = ({ metadata, ...event }: KubeObject): string =>
  textOf(event['lastTimestamp']) || (metadata.creationTimestamp ?? '');
