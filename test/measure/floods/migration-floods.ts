// A kind whose objects are as large as the API server takes them, and its migration.
import { migrationFor, rightsFor } from '../../../knative/tools/migrate/manifests.ts';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import { systemClock } from '../../../shared/clock.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import type { Flood } from './http-floods.ts';
import { applyManifests } from './apply.ts';
import { TENANT, createAll, manyLabels } from './own-floods.ts';
import type { World } from './shipped.ts';
import { eventHeaders } from './traffic.ts';

const GROUP = 'floods.example.com';
const NAME = `whales.${GROUP}`;
const WHALES = { group: GROUP, version: 'v1alpha1', resource: 'whales' } as const;
const OBJECTS = 150;
/** Such objects take a second each to write, in three passes. */
const WITHIN_MS = 900_000;
const LOOK_MS = 1_000;
const ANY = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const definition = (stored: 'v1alpha1' | 'v1'): Manifest => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: NAME },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'whales', kind: 'Whale' },
    versions: ['v1alpha1', 'v1'].map((name) => ({
      name,
      served: true,
      storage: name === stored,
      schema: { openAPIV3Schema: ANY },
    })),
  },
});

/** Half of it labels, which managedFields then name a second time. */
const whale = (index: number): Manifest => ({
  apiVersion: `${GROUP}/v1alpha1`,
  kind: 'Whale',
  metadata: { name: `whale-${index}`, namespace: TENANT, labels: manyLabels(4_000) },
  spec: { text: 'x'.repeat(600_000) },
});

export const migrationFloods = (world: World): readonly Flood[] => [
  {
    name: `${OBJECTS} objects of 1.2 MB with 4,000 labels, migrated, and etcd asked`,
    run: async (_victim, crowd) => {
      const { kube } = world;
      await kube.apply(CRDS, definition('v1alpha1'), { force: true });
      await served(kube);
      await createAll(
        world,
        WHALES,
        Array.from({ length: OBJECTS }, (_, index) => whale(index)),
      );
      await kube.apply(CRDS, definition('v1'), { force: true });
      const how = { dryRun: false, trim: 'OnProof', mode: 'Ballast', verifiesEtcd: true } as const;
      const request = { group: GROUP, resource: 'whales', namespace: 'ballast-system', ...how };
      await applyManifests(kube, [...rightsFor(request), migrationFor(request)]);
      let ticks = 0;
      for (const untilMs = systemClock.nowMs() + WITHIN_MS; systemClock.nowMs() < untilMs;) {
        await crowd.send(4, () => ({
          headers: eventHeaders({ 'ce-type': 'dev.knative.sources.ping' }),
          body: '{}',
        }));
        ticks += 4;
        if ((await phaseOf(kube)) === 'Done') return ticks;
        await systemClock.sleep(LOOK_MS);
      }
      throw new Error(`The migration is ${await phaseOf(kube)} after ${WITHIN_MS / 1_000} s.`);
    },
  },
];

async function phaseOf(kube: KubeClient): Promise<string> {
  const object = await kube.get(STORAGE_MIGRATIONS, { name: NAME });
  const status = object?.['status'] as { readonly phase?: string } | undefined;
  return status?.phase ?? 'not begun';
}

async function served(kube: KubeClient): Promise<void> {
  for (;;) {
    try {
      await kube.list(WHALES, { limit: 1 });
      return;
    } catch (error) {
      if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
      await systemClock.sleep(LOOK_MS);
    }
  }
}
