// The definitions of Knative's own kinds, from its modules, on an API server without the rest of
// Knative.
import { applyObjects } from '../../../knative/local/cluster/apply-objects.ts';
import { moduleConfig } from '../../../knative/cluster/knative/module-config.ts';
import { partsSettings } from '../../../knative/local/parts/settings.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';

const GROUPS = ['eventing.knative.dev', 'sources.knative.dev', 'serving.knative.dev'];
const CRDS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};

/** Returns them as they stand in the modules, once the API server serves each kind. */
export async function defineKnative(kube: KubeClient): Promise<readonly Manifest[]> {
  const definitions = (await moduleConfig(partsSettings())).filter(
    ({ kind, metadata }) =>
      kind === 'CustomResourceDefinition' &&
      GROUPS.some((group) => metadata.name.endsWith(`.${group}`)),
  );
  // Nobody converts here, and of each kind one version is asked for.
  const objects = definitions.map((object) => ({
    file: 'knative',
    object: {
      ...object,
      spec: { ...(object['spec'] as object), conversion: { strategy: 'None' } },
    },
  }));
  await applyObjects(kube, objects);
  for (const { metadata } of definitions) await established(kube, metadata.name);
  return definitions;
}

async function established(kube: KubeClient, name: string): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  for (;;) {
    const found = await kube.get(CRDS, { name }, { signal });
    if (JSON.stringify(found?.['status'] ?? '').includes('"type":"Established"')) return;
  }
}
