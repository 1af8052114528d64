// An object storage as a stage of a cluster, for backups: nothing else waits for it.
import { systemClock } from '../../../../shared/clock.ts';
import { type KubeClient, openKube } from '../../../../shared/kube/client.ts';
import { isRecord } from '../../../../shared/kube/json.ts';
import { programSpec } from '../../../tools/images/program.ts';
import { applyObjects } from '../../local/cluster/apply-objects.ts';
import { resolvePart } from '../../local/parts/resolve.ts';
import { partsSettings } from '../../local/parts/settings.ts';
import { cachedArchive } from '../knative/cached-archive.ts';
import type { Stage } from '../stage.ts';
import { endpointIn, STORAGE_IMAGE, storageObjects } from './objects.ts';

const NAMESPACE = 's3';
const PODS = { group: '', version: 'v1', resource: 'pods' } as const;
const LOOK_EVERY_MS = 250;
const READY_WITHIN_MS = 120_000;

export const storageStage: Stage = {
  name: 'storage',
  async run(cluster, { onReady, signal }) {
    await cluster.importImage(await storageArchive(signal));
    const { kubeconfigPath } = cluster;
    const user = 'ballast-cluster';
    const kube = openKube({ kubeconfigPath, userAgent: user, fieldManager: user });
    try {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
      const objects = [namespace, ...storageObjects(NAMESPACE)];
      const file = 'the object storage';
      await applyObjects(
        kube,
        objects.map((object) => ({ file, object })),
        { signal },
      );
      await untilReady(kube, signal);
      onReady(`object storage ${endpointIn(NAMESPACE)}`);
    } finally {
      await kube.close();
    }
  },
};

async function untilReady(kube: KubeClient, signal: AbortSignal): Promise<void> {
  const endsAtMs = systemClock.nowMs() + READY_WITHIN_MS;
  const target = { namespace: NAMESPACE, name: 's3' };
  while (!isReady((await kube.get(PODS, target, { signal }))?.['status'])) {
    if (systemClock.nowMs() > endsAtMs) {
      const next = `kubectl -n ${NAMESPACE} describe pod s3 says why`;
      throw new Error(`The object storage was not up in time; ${next}.`);
    }
    await systemClock.sleep(LOOK_EVERY_MS, signal);
  }
}

/** The path of the archive of its image. */
export async function storageArchive(signal?: AbortSignal): Promise<string> {
  const settings = partsSettings();
  const resolving = signal === undefined ? { settings } : { settings, signal };
  const binary = await resolvePart('versitygw', resolving);
  return cachedArchive(await programSpec({ image: STORAGE_IMAGE, binary }), settings);
}

function isReady(status: unknown): boolean {
  const { conditions } = isRecord(status) ? status : {};
  const all = Array.isArray(conditions) ? conditions.filter(isRecord) : [];
  return all.some(({ type, status: is }) => type === 'Ready' && is === 'True');
}
