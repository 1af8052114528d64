// Finds the Deployment of the operator: the one that the Takeover names, or those of its
// namespace that run it. The operators of backups and restores, of the same image, are others.
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { textOf } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { isOfRbac } from '../../shared/kube/rbac.ts';
import { OBJECTS_PER_PAGE } from './labelled.ts';
import { fieldOf } from './legacy.ts';
import { operatorOf } from './legacy/operators.ts';
import { type RunsIn, runsProgram } from './legacy/program.ts';
import { recordsIn } from './legacy/said.ts';
import type { Takeover } from './object.ts';
import type { FoundOperator, State } from './state.ts';

export const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' } as const;

type Found = Pick<State, 'operators' | 'isOperatorForbidden'>;

export async function findOperators(
  kube: KubeClient,
  { namespace, spec, status }: Takeover,
  signal: AbortSignal,
): Promise<Found> {
  const named = spec.legacy.operator;
  if (named !== undefined) return findNamed(kube, named, signal);
  // Helm is no operator: it runs when a person says so.
  if (spec.legacy.kind === 'StatefulSet') return { operators: [], isOperatorForbidden: false };
  const isOfNats = spec.legacy.kind === 'NatsCluster';
  const runsIn = isOfNats ? runsProgram('nats-operator') : operatorOf(spec.legacy).runsIn;
  // Its image may be another since it was stopped.
  const known = new Set(status.work?.operators.map(({ uid }) => uid));
  const isOne = (one: KubeObject): boolean => known.has(one.metadata.uid) || runs(one, runsIn);
  const found: FoundOperator[] = [];
  const options = { namespace, limit: OBJECTS_PER_PAGE, signal };
  for await (const { items } of kube.pages(DEPLOYMENTS, options)) {
    found.push(...items.filter((one) => isOne(one)).map((one) => foundOf(one)));
  }
  const operators = found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return { operators, isOperatorForbidden: false };
}

/** The right to it is granted by its name. */
async function findNamed(
  kube: KubeClient,
  named: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<Found> {
  try {
    const object = await kube.get(DEPLOYMENTS, named, { signal });
    return { operators: object === null ? [] : [foundOf(object)], isOperatorForbidden: false };
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN') || !isOfRbac(error.answer?.message ?? '')) {
      throw error;
    }
    return { operators: [], isOperatorForbidden: true };
  }
}

function runs(deployment: KubeObject, runsIn: RunsIn): boolean {
  const { containers } = fieldOf(fieldOf(specOf(deployment), 'template'), 'spec');
  return recordsIn(containers).some((one) => runsIn(one));
}

const specOf = (deployment: KubeObject) => fieldOf({ ...deployment }, 'spec');

function foundOf(deployment: KubeObject): FoundOperator {
  const { name, namespace = '', uid, resourceVersion } = deployment.metadata;
  const { replicas } = specOf(deployment);
  const { replicas: running, terminatingReplicas } = fieldOf({ ...deployment }, 'status');
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    // The API server fills in 1 where none is said.
    replicas: typeof replicas === 'number' ? replicas : 1,
    running: countOf(running) + countOf(terminatingReplicas),
    endsAtMs: typeof terminatingReplicas === 'number' ? undefined : endsAtMs(deployment),
  };
}

const countOf = (said: unknown): number => (typeof said === 'number' ? said : 0);

/** Where a pod does not say. */
const GRACE_SECONDS = 30;

/**
 * Before Kubernetes tells of pods that end its counts leave them out: the last one began to at the
 * latest when its controller wrote the status last, whose time is in whole seconds.
 */
function endsAtMs(deployment: KubeObject): number | undefined {
  const written = (deployment.metadata.managedFields ?? [])
    .filter(({ subresource }) => subresource === 'status')
    .map(({ time }) => Date.parse(textOf(time)))
    .filter((ms) => !Number.isNaN(ms));
  if (written.length === 0) return undefined;
  const pod = fieldOf(fieldOf(specOf(deployment), 'template'), 'spec');
  const { terminationGracePeriodSeconds: seconds } = pod;
  const grace = typeof seconds === 'number' ? seconds : GRACE_SECONDS;
  return Math.max(...written) + (grace + 1) * 1_000;
}
