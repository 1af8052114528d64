// Finds what operators that are gone left in a cluster, each with its plan: of the Takeover that is
// there, in the words of the function; else as it is seen from here, where no member is asked.
import { type Takeover, takeoverOf } from '../../../functions/takeover/object.ts';
import { observe } from '../../../functions/takeover/observe.ts';
import { planOf } from '../../../functions/takeover/plan.ts';
import { LEGACY_ETCDS, type TakeoverPlan, TAKEOVERS } from '../../../shared/api/takeover.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import {
  apiVersionOf,
  type KubeObject,
  type Manifest,
  type ResourceRef,
} from '../../../shared/kube/objects.ts';

export interface FoundLegacy {
  readonly namespace: string;
  readonly name: string;
  readonly into: string;
  /** The name of the Takeover that is there. */
  readonly takeover: string | undefined;
  /** To be applied, where none is there. */
  readonly proposal: Manifest | undefined;
  readonly plan: TakeoverPlan;
}

const OBJECTS_PER_PAGE = 100;

export async function findLegacy(
  kube: KubeClient,
  namespace: string | undefined,
): Promise<readonly FoundLegacy[]> {
  const legacy = await all(kube, LEGACY_ETCDS, namespace);
  if (legacy.length === 0) return [];
  const takeovers = (await all(kube, TAKEOVERS, namespace)).map(takeoverOf);
  const found: FoundLegacy[] = [];
  for (const object of legacy) found.push(await foundOf(kube, object, takeovers));
  return found;
}

/** None where nobody knows the kind. */
async function all(
  kube: KubeClient,
  ref: ResourceRef,
  namespace: string | undefined,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  const where = namespace === undefined ? {} : { namespace };
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
  { metadata }: KubeObject,
  takeovers: readonly Takeover[],
): Promise<FoundLegacy> {
  const { name, namespace = '' } = metadata;
  const own = takeovers.find(
    ({ namespace: space, spec }) => space === namespace && spec.legacy.name === name,
  );
  const proposal = own === undefined ? proposalFor(namespace, name) : undefined;
  const takeover = own ?? takeoverOf(unmade(proposal));
  const told = own?.status.plan;
  return {
    namespace,
    name,
    into: takeover.spec.into.name,
    takeover: own?.name,
    proposal,
    plan: told ?? (await seenFromHere(kube, takeover)),
  };
}

const NAME_MAX = 40;

function proposalFor(namespace: string, legacy: string): Manifest {
  const short = legacy.replaceAll('.', '-');
  const letters = /^[a-z]/.test(short) ? short : `etcd-${short}`;
  return {
    apiVersion: apiVersionOf(TAKEOVERS),
    kind: 'Takeover',
    metadata: { namespace, name: short.slice(0, NAME_MAX).replace(/-+$/, '') },
    spec: {
      legacy: { apiVersion: apiVersionOf(LEGACY_ETCDS), kind: 'EtcdCluster', name: legacy },
      mode: 'Restore',
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

async function seenFromHere(kube: KubeClient, takeover: Takeover): Promise<TakeoverPlan> {
  const deps = { kube, clock: systemClock, door: undefined };
  const { state } = await observe(deps, takeover, new AbortController().signal);
  return planOf(state);
}
