// Leads the Service of the clients elsewhere, and takes what goes with the legacy object out of its
// hands. Each patch is on condition that the object is still as it was observed.
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { apiVersionOf, type OwnerReference, type ResourceRef } from '../../shared/kube/objects.ts';
import { SERVICES } from '../../shared/stateful/parts.ts';
import { applied, type StepResult } from '../../shared/stateful/steps.ts';
import type { Takeover } from './object.ts';
import { selectorIn } from './records.ts';
import type { FoundService } from './state.ts';

type Patches = Pick<KubeClient, 'patch'>;

/** A plan knows the uid of the legacy object as well. */
export type Leading = Pick<Takeover, 'namespace' | 'spec'> & {
  readonly status: { readonly work?: Pick<TakeoverWork, 'legacyUid'> };
};

type Selector = FoundService['selector'];

/** Without the legacy object, with which it would go. */
export const withoutLegacy = (
  owners: readonly OwnerReference[],
  { status }: Pick<Leading, 'status'>,
): readonly OwnerReference[] | null => {
  const others = owners.filter(({ uid }) => uid !== status.work?.legacyUid);
  return others.length === 0 ? null : others;
};

/** Both at once, so that it never goes with pods to which it does not lead. */
async function leadService(
  kube: Patches,
  namespace: string,
  { name, uid, resourceVersion, selector }: FoundService,
  to: {
    readonly selector: Selector;
    readonly owners: readonly OwnerReference[] | null;
    readonly fields?: object;
  },
  signal: AbortSignal,
): Promise<void> {
  const body = {
    metadata: { uid, resourceVersion, ownerReferences: to.owners },
    spec: { selector: inPlaceOf(selector, to.selector), ...to.fields },
  };
  await kube.patch(SERVICES, { namespace, name }, { type: 'merge', body }, { signal });
}

interface LedTo {
  readonly kind: string;
  readonly selector: Selector;
  readonly fields?: object;
}

/** It leads to the new pods, and does not go with the old ones. */
export async function leadToNew(
  kube: Patches,
  { namespace, status, spec }: Leading,
  service: FoundService,
  { kind, selector, fields = {} }: LedTo,
  signal: AbortSignal,
): Promise<StepResult> {
  const owners = withoutLegacy(service.owners, { status });
  await leadService(kube, namespace, service, { selector, owners, fields }, signal);
  const message = `Service ${service.name} leads to ${kind} ${spec.into.name}.`;
  return applied('ServiceSwitched', message);
}

/** As it was when the plan was confirmed, and as the operator writes its owner. */
export async function leadToOld(
  kube: Patches,
  { namespace, status, spec }: Takeover,
  service: FoundService,
  { ref, who }: { readonly ref: ResourceRef; readonly who: string },
  signal: AbortSignal,
): Promise<StepResult> {
  const { kind, name } = spec.legacy;
  const { legacyUid: uid = '', service: former } = status.work ?? {};
  const owner = { apiVersion: apiVersionOf(ref), kind, name, uid, controller: true };
  const to = { selector: selectorIn(former?.selector ?? ''), owners: [...service.owners, owner] };
  await leadService(kube, namespace, service, to, signal);
  return applied('ServiceGivenBack', `Service ${service.name} leads to the old ${who} again.`);
}

/** For a merge patch: of what was there nothing is left. */
export const inPlaceOf = (
  former: Selector,
  next: Selector,
): Readonly<Record<string, string | null>> => ({
  ...Object.fromEntries(Object.keys(former).map((key) => [key, null])),
  ...next,
});
