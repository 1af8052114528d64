// Asks the API server how it would store the EtcdCluster: it fills in defaults, and refuses what it
// would refuse later. Nothing is made by that.
import { ETCD_CLUSTERS, type EtcdClusterSpec } from '../../shared/api/etcd-cluster.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { isOfRbac } from '../../shared/kube/rbac.ts';
import type { EtcdRestore } from './object.ts';
import { clusterManifest } from './render/cluster.ts';
import type { Lack } from './state.ts';

/** The id is known only with what is asked for here. */
const NO_ID = '0';

/** Undefined when one of this name is there. */
export async function readTarget(
  kube: KubeClient,
  restore: EtcdRestore,
  signal: AbortSignal,
): Promise<EtcdClusterSpec | Lack | undefined> {
  const { clusterId = NO_ID } = restore.status;
  try {
    const options = { dryRun: true, signal };
    const { object, isNew } = await kube.create(
      ETCD_CLUSTERS,
      clusterManifest(restore, clusterId),
      options,
    );
    if (!isNew) return undefined;
    // The API server holds it to its schema.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const spec = object['spec'] as EtcdClusterSpec;
    return unfit(spec) ?? spec;
  } catch (error) {
    if (isKubeError(error, 'KUBE_INVALID')) return refused(error.message);
    if (!isKubeError(error, 'KUBE_FORBIDDEN') || isOfRbac(error.answer?.message ?? '')) throw error;
    return { reason: 'ApiServerRefused', message: error.message, isFinal: false };
  }
}

function unfit({ storage, replicas }: EtcdClusterSpec): Lack | undefined {
  if (storage.medium === 'Memory') {
    return refused('its members would be in memory, and a restore fills a volume.');
  }
  return replicas === 0 ? refused('it would hibernate, and nobody could see its data.') : undefined;
}

const refused = (why: string): Lack => ({
  reason: 'EtcdClusterRefused',
  message: `spec.etcdCluster makes no EtcdCluster that can be restored into: ${why}`,
  isFinal: true,
});
