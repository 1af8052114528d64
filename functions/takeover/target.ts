// Asks the API server how it would store the new EtcdCluster: it fills in defaults, and refuses
// what it would refuse later. Nothing is made by that.
import { ETCD_CLUSTERS, type EtcdClusterSpec } from '../../shared/api/etcd-cluster.ts';
import { cut } from '../../shared/cut.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { apiVersionOf, type Manifest } from '../../shared/kube/objects.ts';
import { isOfRbac } from '../../shared/kube/rbac.ts';
import { carriedOver } from './carry-over.ts';
import type { LegacyEtcd } from './legacy.ts';
import type { Takeover } from './object.ts';
import type { Target } from './state.ts';

const WHY_BYTES_MAX = 1_000;

export async function readTarget(
  kube: KubeClient,
  takeover: Takeover,
  legacy: LegacyEtcd,
  signal: AbortSignal,
): Promise<Target> {
  const wanted = carriedOver(legacy, takeover.spec);
  try {
    const options = { dryRun: true, signal };
    const manifest = clusterManifest(takeover, wanted);
    const { object, isNew } = await kube.create(ETCD_CLUSTERS, manifest, options);
    // One that is there already is told of as a name that is taken.
    if (!isNew) return { wanted, spec: undefined };
    // The API server holds it to its schema.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return judged(wanted, object['spec'] as EtcdClusterSpec);
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return refused(wanted, NOT_INSTALLED);
    const isRefusal = isKubeError(error, 'KUBE_INVALID', 'KUBE_FORBIDDEN');
    if (!isRefusal || isOfRbac(error.answer?.message ?? '')) throw error;
    return refused(wanted, error.message);
  }
}

const NOT_INSTALLED = 'the API server knows no EtcdCluster of ballast.dev; install its definition.';

const clusterManifest = (
  { namespace, spec: { into } }: Takeover,
  spec: Target['wanted'],
): Manifest => ({
  apiVersion: apiVersionOf(ETCD_CLUSTERS),
  kind: 'EtcdCluster',
  metadata: { namespace, name: into.name },
  spec,
});

function judged(wanted: Target['wanted'], spec: EtcdClusterSpec): Target {
  if (spec.storage.medium === 'Memory') {
    return refused(wanted, 'its members would be in memory, and a restore fills a volume.');
  }
  if (spec.replicas === 0) {
    return refused(wanted, 'it would hibernate, and nobody could see its data.');
  }
  return { wanted, spec };
}

const refused = (wanted: Target['wanted'], why: string): Target => ({
  wanted,
  spec: undefined,
  refused: {
    reason: 'EtcdClusterRefused',
    message:
      'spec.into.spec, over what the legacy object says, makes no EtcdCluster that can ' +
      'be restored ' +
      `into: ${cut(why, WHY_BYTES_MAX)}`,
  },
});
