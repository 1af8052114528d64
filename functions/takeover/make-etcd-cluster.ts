// Makes the EtcdCluster of a takeover that no EtcdRestore makes. One that is there already stays as
// it is, and the next look says whose it is.
import { ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { applied, type StepResult } from '../../shared/stateful/steps.ts';
import { carriedOver } from './carry-over.ts';
import { joiningManifest } from './join/render.ts';
import { ownClusterManifest } from './own-cluster.ts';
import type { State } from './state.ts';
import { wipes } from './wipe/mode.ts';

export async function makeEtcdCluster(
  kube: KubeClient,
  state: State,
  signal: AbortSignal,
): Promise<StepResult> {
  const { takeover, legacy } = state;
  const { work } = takeover.status;
  if (work === undefined || legacy === undefined) throw new Error('there is nothing to make');
  const spec = carriedOver(legacy, takeover.spec);
  const manifest = wipes(state)
    ? ownClusterManifest(takeover, spec)
    : joiningManifest(takeover, spec, work);
  await kube.create(ETCD_CLUSTERS, manifest, { signal });
  return applied('Created', `Created EtcdCluster ${takeover.spec.into.name}.`);
}
