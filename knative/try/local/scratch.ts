// An etcd and an API server for a moment, on which others may try what they must not try on a
// cluster that somebody uses.
import type { ScratchServer } from '../../../functions/storage-audit/against/scratch.ts';
import { startPlane } from './plane/plane.ts';

export async function startScratch(signal: AbortSignal | undefined): Promise<ScratchServer> {
  const plane = await startPlane({ parts: ['etcd', 'kube-apiserver'], isScratch: true, signal });
  const { kubeconfigPath } = plane;
  return { kubeconfigPath, isOurs: true, close: () => plane.stop() };
}
