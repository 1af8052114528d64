// The new EtcdCluster as it would be stored, and whether a backup can be restored into it.
import { ETCD_CLUSTERS, type EtcdClusterSpec } from '../../shared/api/etcd-cluster.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { asStored, refusedOf } from './as-stored.ts';
import { carriedOver } from './carry-over.ts';
import { grantOfEtcd } from './grant.ts';
import type { LegacyEtcd } from './legacy.ts';
import type { Takeover } from './object.ts';
import { ownClusterManifest } from './own-cluster.ts';
import type { Target } from './state.ts';

export async function readTarget(
  kube: KubeClient,
  takeover: Takeover,
  legacy: LegacyEtcd,
  signal: AbortSignal,
): Promise<Target> {
  const spec = carriedOver(legacy, takeover.spec);
  const manifest = ownClusterManifest(takeover, spec);
  const grant = grantOfEtcd(takeover, legacy);
  const wanted = { ref: ETCD_CLUSTERS, manifest, grant };
  const target = await asStored<EtcdClusterSpec>(kube, wanted, signal);
  const why = target.spec === undefined ? undefined : unusable(target.spec);
  return why === undefined ? target : refusedOf('EtcdCluster', spec, why);
}

function unusable({ storage, replicas }: EtcdClusterSpec): string | undefined {
  if (storage.medium === 'Memory') {
    return 'its members would be in memory, and its data is to be on a volume.';
  }
  return replicas === 0 ? 'it would hibernate, and nobody could see its data.' : undefined;
}
