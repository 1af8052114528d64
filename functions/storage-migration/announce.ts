// Tells on the CRD itself what was done to its list of stored versions: `kubectl describe crd`
// shows it to people who know nothing of the migration.
import type { Clock } from '../../shared/clock.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { Crd } from './target.ts';

const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;
/** Where events about objects of no namespace are. */
const NAMESPACE = 'default';

export interface Announcement {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export async function announce(
  { kube, clock }: { readonly kube: KubeClient; readonly clock: Clock },
  { name, uid, resourceVersion }: Crd,
  { type, reason, message }: Announcement,
  signal: AbortSignal,
): Promise<void> {
  const at = new Date(clock.nowMs()).toISOString();
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    // One for each state of the CRD in which it was done: a second try finds the first.
    metadata: { name: `${name}.${reason.toLowerCase()}.${resourceVersion}`, namespace: NAMESPACE },
    involvedObject: {
      apiVersion: `${CRDS.group}/${CRDS.version}`,
      kind: 'CustomResourceDefinition',
      name,
      uid,
    },
    type,
    reason,
    message,
    source: { component: FIELD_MANAGER },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
  try {
    await kube.create(EVENTS, event, { signal });
  } catch (error) {
    // What it tells is done, and stands in the status as well.
    if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID', 'KUBE_NOT_FOUND')) throw error;
  }
}
