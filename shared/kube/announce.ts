// Tells on an object what was done to it: an Event that `kubectl describe` shows, also to people
// who know nothing of who did it.
import type { KubeClient } from './client.ts';
import { isKubeError } from './errors.ts';

const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;
/** Where Events about objects of no namespace are. */
const CLUSTER_WIDE = 'default';

export interface Announcement {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface Announced {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  /** One for each deed in each state of the object: a second try finds the first. */
  readonly key: string;
}

export interface Announcer {
  readonly kube: KubeClient;
  /** The component in the Event's source. */
  readonly component: string;
  readonly nowMs: number;
}

export async function announce(
  { kube, component, nowMs }: Announcer,
  { key, ...involvedObject }: Announced,
  { type, reason, message }: Announcement,
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
