// The new EtcdCluster as it would be stored, and whether a backup can be restored into it.
import { ETCD_CLUSTERS, type EtcdClusterSpec } from '../../shared/api/etcd-cluster.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { asStored, refusedOf } from './as-stored.ts';
import { carriedOver } from './carry-over.ts';
import type { LegacyEtcd } from './legacy.ts';
import type { Takeover } from './object.ts';
import type { Target } from './state.ts';

const kind = 'EtcdCluster';

export async function readTarget(
  kube: KubeClient,
  takeover: Takeover,
  legacy: LegacyEtcd,
  signal: AbortSignal,
): Promise<Target> {
  const asked = { ref: ETCD_CLUSTERS, kind, spec: carriedOver(legacy, takeover.spec) } as const;
  const target = await asStored<EtcdClusterSpec>(kube, takeover, asked, signal);
  const why = target.spec === undefined ? undefined : unusable(target.spec);
  return why === undefined ? target : refusedOf(kind, asked.spec, why);
}

function unusable({ storage, replicas }: EtcdClusterSpec): string | undefined {
  if (storage.medium === 'Memory') {
    return 'its members would be in memory, and a restore fills a volume.';
  }
  return replicas === 0 ? 'it would hibernate, and nobody could see its data.' : undefined;
}
