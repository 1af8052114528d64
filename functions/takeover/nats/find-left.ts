// Finds what the NATS operator made for a legacy object, and what it told the servers. The right to
// read that Secret is granted by its name.
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isRecord, textOf } from '../../../shared/kube/json.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { byName, labelled, OBJECTS_MAX, serviceOf } from '../find-left.ts';
import { fieldOf } from '../legacy.ts';
import { readSecrets } from '../read-secrets.ts';
import type { FoundService } from '../state.ts';
import { configIn } from './config.ts';
import {
  clientServiceOf,
  CONFIG_KEY,
  configSecretOf,
  type LegacyNats,
  NATS_LABEL,
  routeServiceOf,
} from './legacy.ts';
import type { FoundConfig, FoundServer, NatsState } from './state.ts';

type Left = Pick<NatsState, 'pods' | 'strangers' | 'isCut' | 'client' | 'routes' | 'config'>;

export async function findLeftNats(
  kube: KubeClient,
  legacy: LegacyNats,
  signal: AbortSignal,
): Promise<Left> {
  const { namespace } = legacy;
  const isOwned = (object: KubeObject): boolean =>
    object.metadata.ownerReferences?.some(({ uid }) => uid === legacy.uid) === true;
  const pods: FoundServer[] = [];
  const strangers: string[] = [];
  const where = { namespace, labelSelector: `${NATS_LABEL}=${legacy.name}` };
  for await (const object of labelled(kube, PODS, where, signal)) {
    if (isOwned(object)) pods.push(serverOf(object));
    else strangers.push(object.metadata.name);
  }
  const service = async (name: string): Promise<FoundService | undefined> => {
    const object = await kube.get(SERVICES, { namespace, name }, { signal });
    return object === null ? undefined : serviceOf(object, isOwned(object));
  };
  return {
    pods: byName(pods).slice(0, OBJECTS_MAX),
    strangers: strangers.toSorted().slice(0, OBJECTS_MAX),
    isCut: [pods, strangers].some(({ length }) => length > OBJECTS_MAX),
    client: await service(clientServiceOf(legacy)),
    routes: await service(routeServiceOf(legacy)),
    config: await readConfig(kube, legacy, signal),
  };
}

function serverOf(object: KubeObject): FoundServer {
  const { name, uid, resourceVersion, deletionTimestamp } = object.metadata;
  const { podIP, phase } = fieldOf({ ...object }, 'status');
  const { containers } = fieldOf({ ...object }, 'spec');
  const ip = textOf(podIP);
  return {
    name,
    uid,
    resourceVersion,
    ip: ip === '' ? undefined : ip,
    isRunning: phase === 'Running' && deletionTimestamp === undefined,
    isEnding: deletionTimestamp !== undefined,
    hasHostPort: recordsIn(containers).some(({ ports }) =>
      recordsIn(ports).some(({ hostPort }) => typeof hostPort === 'number' && hostPort > 0),
    ),
  };
}

const recordsIn = (list: unknown) =>
  Array.isArray(list) ? list.filter((one) => isRecord(one)) : [];

async function readConfig(
  kube: KubeClient,
  legacy: LegacyNats,
  signal: AbortSignal,
): Promise<FoundConfig> {
  const name = configSecretOf(legacy);
  const secret = (await readSecrets(kube, legacy.namespace, [name], signal)).get(name);
  if (secret?.is === 'forbidden') return { is: 'forbidden' };
  const text = secret?.is === 'found' ? secret.data[CONFIG_KEY] : undefined;
  if (text === undefined) return { is: 'missing' };
  const config = configIn(text);
  if (secret?.is !== 'found' || config === undefined) return { is: 'odd' };
  return { is: 'found', resourceVersion: secret.resourceVersion, config };
}
