// The servers' pods as listed, and the reason why one of them is not ready: a word that stays the
// same while the scheduler or the kubelet tries again, and their own message.
import type { Clock } from '../clock.ts';
import { cut } from '../cut.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Reason } from '../kube/conditions.ts';
import type { KubeObject } from '../kube/objects.ts';
import { PODS } from './parts.ts';

/** On pods: the hash of the template that they were made from. */
export const TEMPLATE_ANNOTATION = 'ballast.dev/template';

export interface Pod {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly ip: string | undefined;
  readonly isReady: boolean;
  /** Its deletion was requested. */
  readonly isEnding: boolean;
  /** Hash of the template that it was made from. */
  readonly templateHash: string | undefined;
  /** Since when it has found no node; undefined when it has one. */
  readonly placelessSince: string | undefined;
  /** Why it is not ready, as far as the scheduler or the kubelet says. */
  readonly trouble: Reason | undefined;
  /** How its container ended; undefined before it has, and when it has run on for long. */
  readonly crash: Crash | undefined;
  readonly unreadySince: string | undefined;
}

export interface Crash {
  /** How often its container was started again. */
  readonly restarts: number;
  readonly exitCode: number;
  /** It has been started again since. */
  readonly isUp: boolean;
  /** The end of its log, where the pod asks the kubelet for that. */
  readonly lastWords: string;
}

interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

interface Ended {
  readonly reason?: string;
  readonly exitCode?: number;
  readonly message?: string;
  readonly finishedAt?: string;
}

interface ContainerStatus {
  readonly restartCount?: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: Ended;
  };
  readonly lastState?: { readonly terminated?: Ended };
}

interface PodStatus {
  readonly podIP?: string;
  readonly phase?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly conditions?: readonly PodCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

/**
 * Anybody who may create pods in the namespace may label a megabyte as a server: pages bound
 * memory.
 */
const PODS_PER_PAGE = 500;

export interface PodsDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
}

export interface PodSelection {
  readonly namespace: string;
  readonly labelSelector: string;
}

export async function readPods(
  { kube, clock }: PodsDeps,
  { namespace, labelSelector }: PodSelection,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const pods: Pod[] = [];
  const options = { namespace, labelSelector, limit: PODS_PER_PAGE, signal };
  for await (const { items } of kube.pages(PODS, options)) {
    pods.push(...items.map((one) => podOf(one, clock.nowMs())));
  }
  return pods;
}

export function podOf(object: KubeObject, nowMs: number): Pod {
  // The API server holds pods to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { status = {} } = object as unknown as { readonly status?: PodStatus };
  const { name, uid, resourceVersion, annotations } = object.metadata;
  const { creationTimestamp, deletionTimestamp } = object.metadata;
  const is = (type: string, value: string): PodCondition | undefined =>
    status.conditions?.find((one) => one.type === type && one.status === value);
  return {
    name,
    uid,
    resourceVersion,
    ip: hasEnded(status) ? undefined : status.podIP,
    isReady: is('Ready', 'True') !== undefined,
    isEnding: deletionTimestamp !== undefined,
    templateHash: annotations?.[TEMPLATE_ANNOTATION],
    placelessSince: is('PodScheduled', 'False')?.lastTransitionTime,
    trouble: troubleIn(status, is('PodScheduled', 'False'), nowMs),
    crash: crashIn(status, nowMs),
    unreadySince: is('Ready', 'False')?.lastTransitionTime ?? creationTimestamp,
  };
}

/** A pod that ended keeps its address in its status, and another pod may have it by now. */
const hasEnded = ({ phase }: PodStatus): boolean => phase === 'Failed' || phase === 'Succeeded';

/** The reason why the pod does not run; undefined while it is only on its way. */
function troubleIn(
  status: PodStatus,
  placeless: PodCondition | undefined,
  nowMs: number,
): Reason | undefined {
  if (status.phase === 'Failed') return reasonFrom('PodFailed', status.reason, status.message);
  if (placeless?.reason === 'Unschedulable') {
    return reasonFrom('Unschedulable', 'Unschedulable', placeless.message);
  }
  const [container] = status.containerStatuses ?? [];
  return container === undefined ? undefined : containerTrouble(container, nowMs);
}

/** The kubelet keeps no more of it, but anybody with rights may write more. */
const LAST_WORDS_BYTES_MAX = 4_096;

function crashIn({ containerStatuses = [] }: PodStatus, nowMs: number): Crash | undefined {
  const [container = {}] = containerStatuses;
  const { state = {}, restartCount: restarts = 0 } = container;
  const { exitCode, message = '' } = endOf(container) ?? {};
  const isUp = state.waiting === undefined && state.terminated === undefined;
  if (exitCode === undefined || (isUp && !isLooping(container, nowMs))) return undefined;
  return { restarts, exitCode, isUp, lastWords: cut(message, LAST_WORDS_BYTES_MAX) };
}

/** The kubelet alternates between these while it tries again. */
const IMAGE: readonly string[] = [
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
];
const ON_ITS_WAY: readonly string[] = ['ContainerCreating', 'PodInitializing'];

function containerTrouble(container: ContainerStatus, nowMs: number): Reason | undefined {
  const { state = {} } = container;
  const { reason = '', message } = state.waiting ?? {};
  if (IMAGE.includes(reason)) return reasonFrom('ImagePullBackOff', reason, message);
  const ended = endOf(container);
  if (reason === 'CrashLoopBackOff' || state.terminated !== undefined) return endReason(ended);
  if (state.waiting !== undefined) {
    return reason === '' || ON_ITS_WAY.includes(reason)
      ? undefined
      : reasonFrom('CreateContainerError', reason, message);
  }
  return isLooping(container, nowMs) ? endReason(ended) : undefined;
}

const endOf = ({ state, lastState }: ContainerStatus): Ended | undefined =>
  state?.terminated ?? lastState?.terminated;

/** A crash loop runs for a moment between two of its ends. */
function isLooping(container: ContainerStatus, nowMs: number): boolean {
  const { restartCount = 0 } = container;
  return restartCount > 1 && nowMs - Date.parse(endOf(container)?.finishedAt ?? '') < LOOP_MS;
}

/** The kubelet's longest pause between two starts, and a start. */
const LOOP_MS = 360_000;

function endReason({ reason, exitCode }: Ended = {}): Reason {
  if (reason === 'OOMKilled') {
    const message = 'it takes more memory than resources.limits.memory lets it';
    return reasonFrom('OOMKilled', reason, message);
  }
  const how = exitCode === undefined ? 'it ends again and again' : `it ends with code ${exitCode}`;
  return reasonFrom('CrashLoopBackOff', 'CrashLoopBackOff', `${how}; its log says why`);
}

/** Image names and messages of a scheduler may be long, and may have several lines. */
const MESSAGE_BYTES_MAX = 400;

function reasonFrom(reason: string, kubeReason = '', message = ''): Reason {
  const text = [kubeReason, message].filter((one) => one !== '').join(': ');
  // oxlint-disable-next-line no-control-regex
  const line = text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  return { reason, message: cut(line.replace(/\.$/, ''), MESSAGE_BYTES_MAX) };
}
