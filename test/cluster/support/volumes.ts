// Volumes on the disks of the rung's nodes, and their loss.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { until } from '../../builders/versioned-kind.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const CLAIMS = core('persistentvolumeclaims');
const VOLUMES = core('persistentvolumes');

interface Lost {
  readonly kube: KubeClient;
  readonly clusterDir: string;
  readonly namespace: string;
  readonly claim: string;
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
  const { path } = Object(Object(volume['spec']).local);
  // The path of a node's directory, as this machine sees it.
  const at = String(path).indexOf('/nodes/');
  await rm(join(more.clusterDir, String(path).slice(at)), { recursive: true });
}
