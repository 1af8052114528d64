// The definitions of Knative's own kinds, from its modules, on an API server without the rest of
// Knative.
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { moduleConfig } from '../../../knative/try/cluster/knative/module-config.ts';
import { partsSettings } from '../../../knative/try/local/parts/settings.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';

const CRDS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};

/** All of them, since Knative's processes wait for each kind; resolves once they are served. */
export async function defineKnative(kube: KubeClient): Promise<void> {
  const definitions = (await moduleConfig(partsSettings())).filter(
    ({ kind }) => kind === 'CustomResourceDefinition',
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
}

async function established(kube: KubeClient, name: string): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  for (;;) {
    const found = await kube.get(CRDS, { name }, { signal });
    if (JSON.stringify(found?.['status'] ?? '').includes('"type":"Established"')) return;
  }
}
