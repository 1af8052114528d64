// Writes the status of a custom resource, only when it changed, and on condition that the object is
// as it was read: of two instances at once, one gets a conflict and reconciles again. Events about
// the object tell of steps, and of each new trouble.
import type { Clock } from '../clock.ts';
import { cut } from '../cut.ts';
import { hashOf } from '../hash.ts';
import { recordEvent, type ObjectEvent } from '../kube/event-recorder.ts';
import type { KubeClient } from '../kube/client.ts';
import {
  type ConditionInput,
  conditionsOf,
  type Reason,
  setConditions,
} from '../kube/conditions.ts';
import { isRecord } from '../kube/json.ts';
import type { KubeObject, ResourceRef } from '../kube/objects.ts';
import { writeStatus } from '../kube/status.ts';

/** The API's conventions allow 32,768 characters; a person reads less. */
const MESSAGE_BYTES_MAX = 2_000;

export interface Announcer {
  readonly kube: KubeClient;
  readonly clock: Clock;
  /** Also the component in the source of Events. */
  readonly fieldManager: string;
}

export interface StatusWriter extends Announcer {
  readonly ref: ResourceRef;
}

export interface StatusUpdate<Status extends object = object> {
  /** All of it but the conditions. */
  readonly status: Omit<Status, 'conditions'>;
  readonly conditions: readonly ConditionInput[];
}

export interface StatusMoment {
  /** The time of the observation. */
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** Writes the status, and creates an Event when the reason of Degraded is a new one. */
export async function reportStatus(
  writer: StatusWriter,
  object: KubeObject,
  update: StatusUpdate,
  moment: StatusMoment,
): Promise<void> {
  const shown = await write(writer, object, update, moment);
  const trouble = shown.find(({ type, status }) => type === 'Degraded' && status === 'True');
  if (trouble !== undefined && isNew(object, trouble)) {
    const { reason, message } = trouble;
    await recordEventOn(writer, object, { type: 'Warning', reason, message }, moment.signal);
  }
}

/** Why nothing could be observed, and what is tried next where the status has a plan. */
export interface Unobserved extends Reason {
  readonly next?: string;
  /** Conditions that say how the servers are. */
  readonly unknown: readonly string[];
}

/**
 * Writes that nothing could be observed: the rest of the status stays, and how the servers are
 * becomes Unknown. There is no Event: a function without rights to read may not create one there
 * either.
 */
export async function reportUnobserved(
  writer: StatusWriter,
  object: KubeObject,
  { next, unknown, ...reason }: Unobserved,
  signal: AbortSignal,
): Promise<void> {
  const { conditions: _, ...before } = isRecord(object['status']) ? object['status'] : {};
  const hasPlan = next !== undefined;
  const status = hasPlan ? { ...before, plan: { next, waitsFor: reason.message } } : before;
  const conditions = [
    ...unknown.map((type) => ({ type, status: 'Unknown', ...reason }) as const),
    ...(hasPlan ? [{ type: 'Progressing', status: 'False', ...reason } as const] : []),
    { type: 'Degraded', status: 'True', ...reason },
  ] as const;
  const nowMs = writer.clock.nowMs();
  await write(writer, object, { status, conditions }, { nowMs, signal });
}

async function write(
  { kube, ref, fieldManager }: StatusWriter,
  object: KubeObject,
  { status, conditions }: StatusUpdate,
  { nowMs, signal }: StatusMoment,
): Promise<readonly ConditionInput[]> {
  const moment = { fieldManager, observedGeneration: generationOf(object), nowMs };
  const shown = conditions.map((one) => ({ ...one, message: cut(one.message, MESSAGE_BYTES_MAX) }));
  await writeStatus(kube, {
    ref,
    object,
    status: { ...status, conditions: setConditions(object, shown, moment) },
    fieldManager,
    ifUnmoved: true,
    signal,
  });
  return shown;
}

/** True for the first report of a reason, and again with another reason or another spec. */
function isNew(object: KubeObject, { reason }: ConditionInput): boolean {
  const before = conditionsOf(object).find(({ type }) => type === 'Degraded');
  const isSame = before?.status === 'True' && before.reason === reason;
  const { status } = object;
  const observed = isRecord(status) ? status['observedGeneration'] : undefined;
  return !isSame || observed !== generationOf(object);
}

const generationOf = ({ metadata: { generation = 0 } }: KubeObject): number => generation;

/** Creates an Event on the object, which `kubectl describe` shows. */
export async function recordEventOn(
  { kube, clock, fieldManager }: Announcer,
  { apiVersion, kind, metadata }: KubeObject,
  event: ObjectEvent,
  signal: AbortSignal,
): Promise<void> {
  const { reason, message } = event;
  const { namespace = '', name, uid, resourceVersion } = metadata;
  const key = hashOf({ resourceVersion, reason, message });
  const involved = { apiVersion, kind, namespace, name, uid, key };
  const recorder = { kube, component: fieldManager, nowMs: clock.nowMs() };
  await recordEvent(recorder, involved, event, signal);
}
