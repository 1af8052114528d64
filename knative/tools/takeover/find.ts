// Finds what operators that are gone left in a cluster, each with its plan: of the Takeover that is
// there, in the words of the function; else as it is seen from here, where no member is asked.
import { type AnyState, anyPlanOf, isOfNats } from '../../../functions/takeover/any-state.ts';
import { type Takeover, takeoverOf } from '../../../functions/takeover/object.ts';
import { observe } from '../../../functions/takeover/observe.ts';
import { isOfChart } from '../../../functions/takeover/nats/made/chart.ts';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import {
  AENIX_ETCDS,
  IMPROBABLE_ETCDS,
  LEGACY_ETCDS,
  LEGACY_NATS,
  type LegacyReference,
  type TakeoverPlan,
  type TakeoverSpec,
  TAKEOVERS,
} from '../../../shared/api/takeover.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import {
  apiVersionOf,
  type KubeObject,
  type Manifest,
  type ResourceRef,
} from '../../../shared/kube/objects.ts';
import { STATEFUL_SETS } from '../../../shared/stateful/parts.ts';

export interface FoundLegacy {
  readonly kind: LegacyReference['kind'];
  readonly group: string;
  readonly namespace: string;
  readonly name: string;
  readonly into: string;
  /** The name of the Takeover that is there. */
  readonly takeover: string | undefined;
  /** To be applied, where none is there. */
  readonly proposal: Manifest | undefined;
  readonly plan: TakeoverPlan;
  /** The NatsCluster that would be made; an EtcdCluster is made of a backup alone. */
  readonly natsCluster: Manifest | undefined;
}

const OBJECTS_PER_PAGE = 100;

interface Kind extends Pick<LegacyReference, 'kind'> {
  readonly ref: ResourceRef;
  readonly mode: TakeoverSpec['mode'];
  /** Where others have objects of the kind, too: those of them that are meant. */
  readonly label?: string;
  readonly is?: (object: KubeObject) => boolean;
}

const KINDS: readonly Kind[] = [
  { ref: LEGACY_ETCDS, kind: 'EtcdCluster', mode: 'Restore' },
  { ref: AENIX_ETCDS, kind: 'EtcdCluster', mode: 'Restore' },
  { ref: IMPROBABLE_ETCDS, kind: 'EtcdCluster', mode: 'Restore' },
  { ref: LEGACY_NATS, kind: 'NatsCluster', mode: 'Route' },
  { ref: STATEFUL_SETS, kind: 'StatefulSet', mode: 'Route', label: 'helm.sh/chart', is: isOfChart },
];

/** Kinds that operators defined. */
export const LEGACY_GROUPS = KINDS.filter(({ label }) => label === undefined).map(
  ({ ref }) => ref.group,
);

interface Left {
  readonly of: Kind;
  readonly object: KubeObject;
}

export async function findLegacy(
  kube: KubeClient,
  namespace: string | undefined,
): Promise<readonly FoundLegacy[]> {
  const legacy: Left[] = [];
  for (const of of KINDS) {
    const { ref, label, is = () => true } = of;
    const objects = await all(kube, ref, namespace, label);
    legacy.push(...objects.filter((one) => is(one)).map((object) => ({ of, object })));
  }
  if (legacy.length === 0) return [];
  const takeovers = (await all(kube, TAKEOVERS, namespace)).map(takeoverOf);
  const found: FoundLegacy[] = [];
  for (const one of legacy) found.push(await foundOf(kube, one, takeovers));
  return found;
}

/** None where nobody knows the kind. */
async function all(
  kube: KubeClient,
  ref: ResourceRef,
  namespace: string | undefined,
  label?: string,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  const where = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(label === undefined ? {} : { labelSelector: label }),
  };
  try {
    for await (const { items } of kube.pages(ref, { ...where, limit: OBJECTS_PER_PAGE })) {
      found.push(...items);
    }
  } catch (error) {
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
  }
  return found;
}

async function foundOf(
  kube: KubeClient,
  { of, object: { metadata } }: Left,
  takeovers: readonly Takeover[],
): Promise<FoundLegacy> {
  const { name, namespace = '' } = metadata;
  const own = takeovers.find(
    ({ namespace: space, spec: { legacy } }) =>
      space === namespace &&
      legacy.name === name &&
      legacy.kind === of.kind &&
      legacy.apiVersion === apiVersionOf(of.ref),
  );
  const proposal = own === undefined ? proposalFor(of, namespace, name) : undefined;
  const takeover = own ?? takeoverOf(unmade(proposal));
  const told = own?.status.plan;
  const seen = told === undefined || of.kind !== 'EtcdCluster';
  const state = seen ? await seenFromHere(kube, takeover) : undefined;
  return {
    kind: of.kind,
    group: of.ref.group,
    namespace,
    name,
    into: takeover.spec.into.name,
    takeover: own?.name,
    proposal,
    plan: told ?? planIn(state),
    natsCluster: natsClusterIn(state),
  };
}

const NAME_MAX = 40;

function proposalFor({ ref, kind, mode }: Left['of'], namespace: string, legacy: string): Manifest {
  const short = legacy.replaceAll('.', '-');
  const letters = /^[a-z]/.test(short)
    ? short
    : `${kind === 'EtcdCluster' ? 'etcd' : 'nats'}-${short}`;
  return {
    apiVersion: apiVersionOf(TAKEOVERS),
    kind: 'Takeover',
    metadata: { namespace, name: short.slice(0, NAME_MAX).replace(/-+$/, '') },
    spec: {
      legacy: { apiVersion: apiVersionOf(ref), kind, name: legacy },
      mode,
      into: { name: `${letters.slice(0, NAME_MAX - 2)}-2` },
    },
  };
}

/** As the API server would return it. */
function unmade(proposal: Manifest | undefined): KubeObject {
  if (proposal === undefined) throw new Error('there is nothing to make');
  const { metadata, ...rest } = proposal;
  return { ...rest, metadata: { ...metadata, uid: 'UID', resourceVersion: '' } };
}

async function seenFromHere(kube: KubeClient, takeover: Takeover): Promise<AnyState> {
  const deps = { kube, clock: systemClock, door: undefined };
  return (await observe(deps, takeover, new AbortController().signal)).state;
}

function planIn(state: AnyState | undefined): TakeoverPlan {
  if (state === undefined) throw new Error('nobody has made a plan');
  return anyPlanOf(state);
}

function natsClusterIn(state: AnyState | undefined): Manifest | undefined {
  if (state === undefined || !isOfNats(state) || state.legacy === undefined) return undefined;
  const { namespace, spec } = state.takeover;
  return {
    apiVersion: apiVersionOf(NATS_CLUSTERS),
    kind: 'NatsCluster',
    metadata: { namespace, name: spec.into.name },
    spec: state.target.wanted,
  };
}
