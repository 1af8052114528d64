// Finds what was made for a legacy NATS, and what its servers were told. The right to read that is
// granted by its name.
import type { KubeClient } from '../../../shared/kube/client.ts';
import { textOf } from '../../../shared/kube/json.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { byName, OBJECTS_MAX } from '../find-left.ts';
import { belongsTo, labelled } from '../labelled.ts';
import { fieldOf } from '../legacy.ts';
import { recordsIn } from '../legacy/said.ts';
import type { FoundService } from '../state.ts';
import type { LegacyNats } from './legacy.ts';
import type { NatsMaker } from './made/maker.ts';
import type { FoundServer, NatsState } from './state.ts';

type Left = Pick<NatsState, 'pods' | 'strangers' | 'isCut' | 'client' | 'routes' | 'config'>;

export async function findLeftNats(
  kube: KubeClient,
  maker: NatsMaker,
  legacy: LegacyNats,
  signal: AbortSignal,
): Promise<Left> {
  const { namespace, selector, uid } = legacy;
  const pods: FoundServer[] = [];
  const strangers: string[] = [];
  for await (const object of labelled(kube, PODS, { namespace, labelSelector: selector }, signal)) {
    if (belongsTo(object, uid)) pods.push(serverOf(object));
    else strangers.push(object.metadata.name);
  }
  const service = async (name: string): Promise<FoundService | undefined> => {
    const object = await kube.get(SERVICES, { namespace, name }, { signal });
    return object === null ? undefined : maker.serviceOf(object, legacy);
  };
  return {
    pods: byName(pods).slice(0, OBJECTS_MAX),
    strangers: strangers.toSorted().slice(0, OBJECTS_MAX),
    isCut: [pods, strangers].some(({ length }) => length > OBJECTS_MAX),
    client: await service(legacy.clientService),
    routes: await service(legacy.routeService),
    config: await maker.readConfig(kube, legacy, signal),
  };
}

function serverOf(object: KubeObject): FoundServer {
  const { name, uid, resourceVersion, deletionTimestamp } = object.metadata;
  const { podIP, phase } = fieldOf({ ...object }, 'status');
  const { containers } = fieldOf({ ...object }, 'spec');
  return {
    name,
    uid,
    resourceVersion,
    ip: textOf(podIP) || undefined,
    isRunning: phase === 'Running' && deletionTimestamp === undefined,
    isEnding: deletionTimestamp !== undefined,
    hasHostPort: recordsIn(containers).some(({ ports }) =>
      recordsIn(ports).some(({ hostPort }) => typeof hostPort === 'number' && hostPort > 0),
    ),
  };
}
