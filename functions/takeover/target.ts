// The new EtcdCluster as it would be stored, and whether a backup can be restored into it.
import { ETCD_CLUSTERS, type EtcdClusterSpec } from '../../shared/api/etcd-cluster.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { apiVersionOf } from '../../shared/kube/objects.ts';
import { asStored, refusedOf } from './as-stored.ts';
import { carriedOver } from './carry-over.ts';
import { joins } from './join/mode.ts';
import { etcdClusterManifest } from './join/render.ts';
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
  const { namespace } = takeover;
  const spec = carriedOver(legacy, takeover.spec);
  const metadata = { namespace, name: takeover.spec.into.name };
  const manifest = joins({ takeover })
    ? etcdClusterManifest(takeover, spec)
    : { apiVersion: apiVersionOf(ETCD_CLUSTERS), kind, metadata, spec };
  const target = await asStored<EtcdClusterSpec>(kube, { ref: ETCD_CLUSTERS, manifest }, signal);
  const why = target.spec === undefined ? undefined : unusable(target.spec);
  return why === undefined ? target : refusedOf(kind, spec, why);
}

function unusable({ storage, replicas }: EtcdClusterSpec): string | undefined {
  if (storage.medium === 'Memory') {
    return 'its members would be in memory, and its data is to be on a volume.';
  }
  return replicas === 0 ? 'it would hibernate, and nobody could see its data.' : undefined;
}
