// Creates Events about what was done to an object: `kubectl describe` shows them, also to people
// who know nothing of who did it.
import type { KubeClient } from './client.ts';
import { isKubeError } from './errors.ts';

const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;
/** Where Events about objects of no namespace are. */
const CLUSTER_WIDE = 'default';

export interface ObjectEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface InvolvedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  /** One for each deed in each state of the object: a second try finds the first. */
  readonly key: string;
}

export interface EventRecorder {
  readonly kube: KubeClient;
  /** The component in the Event's source. */
  readonly component: string;
  readonly nowMs: number;
}

export async function recordEvent(
  { kube, component, nowMs }: EventRecorder,
  { key, ...involvedObject }: InvolvedObject,
  { type, reason, message }: ObjectEvent,
  signal: AbortSignal,
): Promise<void> {
  const at = new Date(nowMs).toISOString();
  const { namespace = CLUSTER_WIDE, name } = involvedObject;
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${key}`, namespace },
    involvedObject,
    type,
    reason,
    message,
    source: { component },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
  try {
    await kube.create(EVENTS, event, { signal });
  } catch (error) {
    // The step is done, and the status tells of it as well.
    if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID', 'KUBE_NOT_FOUND')) throw error;
  }
}
