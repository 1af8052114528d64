// Finds the Service of the clients once the legacy object is gone: by it alone it is known whether
// they are led over still.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { SERVICES } from '../../shared/stateful/parts.ts';
import { serviceOf } from './find-left.ts';
import { belongsTo } from './labelled.ts';
import { selectorText } from './records.ts';
import type { FoundService } from './state.ts';

export async function findLed(
  kube: KubeClient,
  namespace: string,
  { service: { name }, legacyUid }: TakeoverWork,
  signal: AbortSignal,
): Promise<FoundService | undefined> {
  const object = await kube.get(SERVICES, { namespace, name }, { signal });
  return object === null ? undefined : serviceOf(object, belongsTo(object, legacyUid));
}

/** Somebody has led clients elsewhere since, and it is not said that they are led over. */
export function ledElsewhere(
  { service: { name } }: TakeoverWork,
  selector: FoundService['selector'],
): Reason {
  const message =
    `All else is done, and Service ${name} leads elsewhere or is gone: somebody has changed or ` +
    `deleted it. Give it the selector ${selectorText(selector)}, and take the owner off it if ` +
    'it has one; or make one of that name.';
  return { reason: 'ServiceChanged', message };
}
