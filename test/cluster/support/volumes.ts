// Volumes on the disks of the rung's nodes, and their loss.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { until } from '../../builders/versioned-kind.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const CLAIMS = core('persistentvolumeclaims');
const VOLUMES = core('persistentvolumes');

interface OfClaim {
  readonly kube: KubeClient;
  readonly clusterDir: string;
  readonly namespace: string;
  readonly claim: string;
}

interface Lost extends OfClaim {
  /** Ends the pod that has it mounted; resolves when its process is gone. */
  readonly endPod: () => Promise<void>;
}

/** Somebody took the disk out: the volume is no more, and what it held neither. */
export async function loseVolume({ kube, namespace, claim, ...more }: Lost): Promise<void> {
  const target = { namespace, name: claim };
  const { volumeName = '' } = Object((await kube.get(CLAIMS, target))?.['spec']);
  const volume = await kube.get(VOLUMES, { name: volumeName });
  if (volume === null) throw new Error(`${claim} has no volume`);
  const { uid } = volume.metadata;
  await kube.delete(VOLUMES, { name: volumeName }, { uid });
  const body = { metadata: { finalizers: null } };
  await kube.patch(VOLUMES, { name: volumeName }, { type: 'merge', body });
  await until('the claim to be lost', async () => {
    const { phase } = Object((await kube.get(CLAIMS, target))?.['status']);
    return phase === 'Lost';
  });
  await more.endPod();
  await rm(pathOf(volume, more.clusterDir), { recursive: true });
}

/** The directory of the volume of a claim, as this machine sees it. */
export async function volumeDir({ kube, clusterDir, namespace, claim }: OfClaim): Promise<string> {
  const found = await kube.get(CLAIMS, { namespace, name: claim });
  const { volumeName = '' } = Object(found?.['spec']);
  const volume = await kube.get(VOLUMES, { name: volumeName });
  if (volume === null) throw new Error(`${claim} has no volume`);
  return pathOf(volume, clusterDir);
}

/** The volume has the path as its node sees it. */
function pathOf(volume: KubeObject, clusterDir: string): string {
  const { path } = Object(Object(volume['spec']).local);
  return join(clusterDir, String(path).slice(String(path).indexOf('/nodes/')));
}
