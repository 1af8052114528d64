// Something to migrate: widgets that were stored as v1alpha1 before v1 became what is stored, as
// they are left behind in a cluster when an operator is upgraded. Everything goes through the API
// server.
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { CRDS } from '../../../../shared/kube/crds.ts';
import type { KubeObject, Manifest } from '../../../../shared/kube/objects.ts';
import { applyObjects } from '../cluster/apply-objects.ts';
import { inParallel } from '../cluster/in-parallel.ts';
import type { Plane } from '../plane/plane.ts';

const GROUP = 'demo.ballast.dev';
const PLURAL = 'widgets';
const NAME = `${PLURAL}.${GROUP}`;
const NAMESPACE = 'default';
const OLD = 'v1alpha1';
const CURRENT = 'v1';
/** Enough to see a migration at work, and created in half a second. */
const WIDGETS = 300;
/** The start has more to do at the same time. */
const IN_FLIGHT_MAX = 4;
const COLORS = ['amber', 'blue', 'coral', 'green'] as const;

/** The same for both versions, so that none prunes what the other knows. */
const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { color: { type: 'string' }, sizeMillimeters: { type: 'integer' } },
    },
  },
};

/**
 * Objects that a kept cluster has already stay as they are: somebody may be trying things on them.
 */
export async function fillTryOut(kube: KubeClient, signal?: AbortSignal): Promise<void> {
  const before = await kube.get(CRDS, { name: NAME }, { signal });
  if (before !== null && storedVersions(before).includes(CURRENT)) return;
  const [first, ...others] = Array.from({ length: WIDGETS }, (_, index) => widget(index));
  if (first === undefined) return;
  const file = import.meta.filename;
  const objects = [definition(OLD), first].map((object) => ({ file, object }));
  await applyObjects(kube, objects, { signal });
  const ref = { group: GROUP, version: OLD, resource: PLURAL };
  await inParallel(others, IN_FLIGHT_MAX, (one) => kube.create(ref, one, { signal }));
  await kube.apply(CRDS, definition(CURRENT), { force: true, signal });
}

/** Commands that show it, for a person's shell. */
export const tryOutAdvice = (
  kubectl: string,
  { dir: planeDir, kubeconfigPath }: Pick<Plane, 'dir' | 'kubeconfigPath'>,
): readonly string[] => [
  `npm run -s audit -- --plane ${planeDir} --resource ${NAME}     # old versions, and then none`,
  `KUBECONFIG=${kubeconfigPath} npm run -s migrate -- ${NAME} | ${kubectl} apply -f -`,
  `${kubectl} get storagemigrations -w`,
];

function storedVersions({ status }: KubeObject): readonly unknown[] {
  const isStatus = typeof status === 'object' && status !== null && 'storedVersions' in status;
  return isStatus && Array.isArray(status.storedVersions) ? status.storedVersions : [];
}

function widget(index: number): Manifest {
  return {
    apiVersion: `${GROUP}/${OLD}`,
    kind: 'Widget',
    metadata: { name: `widget-${String(index).padStart(3, '0')}`, namespace: NAMESPACE },
    spec: { color: COLORS[index % COLORS.length], sizeMillimeters: 10 + index },
  };
}

function definition(storage: string): Manifest {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: NAME },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: PLURAL, singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      conversion: { strategy: 'None' },
      versions: [OLD, CURRENT].map((name) => ({
        name,
        served: true,
        storage: name === storage,
        schema: { openAPIV3Schema: SCHEMA },
      })),
    },
  };
}
