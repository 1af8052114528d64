// Has the function told at once that one of its Secrets is gone, with no right to watch any. The
// budget names the Secrets as owners beside the NatsCluster: Kubernetes' garbage collector takes
// the name of one that is gone out of it, and a changed budget is an event.
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { BUDGETS } from '../../shared/stateful/parts.ts';
import type { StepResult } from '../../shared/stateful/steps.ts';
import type { Cluster } from './cluster.ts';
import type { Decision } from './decision.ts';
import type { Deps } from './deps.ts';
import type { State, Unnamed } from './state.ts';

/** An event carries the whole budget. The sweep looks at all others. */
const NAMED_MAX = 64;

/** Somebody may forbid it, such as admission that asks for the right to delete budgets. */
const AGAIN_MS = 3_600_000;

interface UnnamedDeps {
  readonly nowMs: number;
  /** When Secrets could not be named in the budget. */
  readonly namesRefusedAtMs: number | undefined;
}

/** Undefined when it names all of these, which are uids by name, or may not. */
export function unnamedIn(
  { nowMs, namesRefusedAtMs = -Infinity }: UnnamedDeps,
  budget: KubeObject | null,
  secrets: ReadonlyMap<string, string>,
): Unnamed | undefined {
  if (budget === null || nowMs - namesRefusedAtMs < AGAIN_MS) return undefined;
  const { uid, resourceVersion, ownerReferences = [] } = budget.metadata;
  const named = new Set(ownerReferences.map((owner) => owner.uid));
  const owners = [...secrets]
    .slice(0, NAMED_MAX)
    .flatMap(([name, its]) =>
      named.has(its) ? [] : [{ apiVersion: 'v1', kind: 'Secret', name, uid: its }],
    );
  return owners.length === 0 ? undefined : { uid, resourceVersion, owners };
}

/** After all that servers need: without it a Secret is missed within a minute, by the sweep. */
export function nameSecrets({ cluster, parts: { unnamed } }: State): Decision | undefined {
  if (unnamed === undefined) return undefined;
  const next = `Name Secrets in PodDisruptionBudget ${cluster.name}`;
  return { step: { type: 'name-secrets', unnamed }, next };
}

export async function applyNames(
  deps: Deps,
  { namespace, name, uid: clusterUid }: Cluster,
  { uid, resourceVersion, owners }: Unnamed,
  signal: AbortSignal,
): Promise<StepResult> {
  // A strategic patch adds owners to those that are there.
  const body = { metadata: { uid, resourceVersion, ownerReferences: owners } };
  try {
    await deps.kube.patch(BUDGETS, { namespace, name }, { type: 'strategic', body }, { signal });
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID')) throw error;
    deps.memoryOf(clusterUid).namesRefusedAtMs = deps.clock.nowMs();
  }
  return { isSlow: false };
}
