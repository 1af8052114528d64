// Reads what only matters while a takeover of a NatsCluster is carried out or taken back: what was
// made for it, how its servers are routed with the old ones, and where the clients are. Writes
// nothing.
import {
  NATS_CLUSTER_LABEL,
  NATS_CLUSTERS,
  type NatsClusterSpec,
  type NatsClusterStatus,
} from '../../../shared/api/nats-cluster.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { textOf } from '../../../shared/kube/json.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { ownObjectOf } from '../../../shared/kube/own-object.ts';
import { PODS } from '../../../shared/stateful/parts.ts';
import type { Door } from '../door.ts';
import { madeOf } from '../find-new.ts';
import { labelled } from '../labelled.ts';
import { fieldOf } from '../legacy.ts';
import { isMadeFor } from '../made-for.ts';
import type { Takeover } from '../object.ts';
import { askNew, askRoutes } from './ask-servers.ts';
import type { FoundNatsCluster, FoundServer, NatsWork } from './state.ts';

export async function observeNatsWork(
  kube: KubeClient,
  door: Pick<Door, 'monitor' | 'routes' | 'accounts'>,
  { takeover, pods }: { readonly takeover: Takeover; readonly pods: readonly FoundServer[] },
  signal: AbortSignal,
): Promise<NatsWork> {
  const { namespace, spec } = takeover;
  const { name } = spec.into;
  const object = await kube.get(NATS_CLUSTERS, { namespace, name }, { signal });
  const [routes, fresh] = await Promise.all([
    askRoutes(door.routes, pods, signal),
    podsOf(kube, takeover, signal).then((all) => askNew(door, all, signal)),
  ]);
  return { cluster: object === null ? undefined : clusterOf(object, takeover), routes, fresh };
}

function clusterOf(object: KubeObject, takeover: Takeover): FoundNatsCluster {
  const own = ownObjectOf<NatsClusterSpec, NatsClusterStatus>(object);
  const { generation, spec, status } = own;
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return {
    ...madeOf(object, isMadeFor(object, takeover)),
    isReady: ready?.status === 'True' && status.observedGeneration === generation,
    says: ready?.message ?? 'Nobody has looked at it yet.',
    extraRoutes: spec.extraRoutes ?? [],
    replicas: spec.replicas,
  };
}

async function podsOf(kube: KubeClient, { namespace, spec }: Takeover, signal: AbortSignal) {
  const found: Pick<FoundServer, 'name' | 'ip' | 'isRunning'>[] = [];
  const where = { namespace, labelSelector: `${NATS_CLUSTER_LABEL}=${spec.into.name}` };
  for await (const object of labelled(kube, PODS, where, signal)) {
    const { podIP, phase } = fieldOf({ ...object }, 'status');
    const { name, deletionTimestamp } = object.metadata;
    const isRunning = phase === 'Running' && deletionTimestamp === undefined;
    found.push({ name, ip: textOf(podIP) || undefined, isRunning });
  }
  return found;
}
