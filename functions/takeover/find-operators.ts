// Finds the Deployment of the etcd operator: the one that the Takeover names, or those of its
// namespace that run it. The operators of backups and restores, of the same image, are others.
import type { KubeClient } from '../../shared/kube/client.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { fieldOf } from './legacy.ts';
import type { Takeover } from './object.ts';
import type { FoundOperator } from './state.ts';

const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' } as const;
const OBJECTS_PER_PAGE = 100;
const OPERATOR = 'etcd-operator';

export async function findOperators(
  kube: KubeClient,
  { namespace, spec }: Takeover,
  signal: AbortSignal,
): Promise<readonly FoundOperator[]> {
  const named = spec.legacy.operator;
  if (named !== undefined) {
    const object = await kube.get(DEPLOYMENTS, named, { signal });
    return object === null ? [] : [operatorOf(object)];
  }
  const found: FoundOperator[] = [];
  const options = { namespace, limit: OBJECTS_PER_PAGE, signal };
  for await (const { items } of kube.pages(DEPLOYMENTS, options)) {
    found.push(...items.filter((one) => runsOperator(one)).map((one) => operatorOf(one)));
  }
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function runsOperator(deployment: KubeObject): boolean {
  const { containers } = fieldOf(fieldOf(specOf(deployment), 'template'), 'spec');
  const all = Array.isArray(containers) ? containers.filter((one) => isRecord(one)) : [];
  return all.some(({ image, command }) => {
    if (Array.isArray(command)) return lastPart(textOf(command[0])) === OPERATOR;
    return lastPart(textOf(image)).replace(/[:@].*$/, '') === OPERATOR;
  });
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const specOf = (deployment: KubeObject) => fieldOf({ ...deployment }, 'spec');

function operatorOf(deployment: KubeObject): FoundOperator {
  const { name, namespace = '', uid } = deployment.metadata;
  const { replicas } = specOf(deployment);
  // The API server fills in 1 where none is said.
  return { name, namespace, uid, replicas: typeof replicas === 'number' ? replicas : 1 };
}
