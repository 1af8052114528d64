// Reads the state of a takeover of a NatsCluster: the legacy object with what its operator left for
// it, the word of its servers, and how the new NatsCluster would be stored. Writes nothing.
import { NATS_CLUSTERS, type NatsClusterSpec } from '../../../shared/api/nats-cluster.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { CLAIMS, SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { asStored } from '../as-stored.ts';
import type { Door } from '../door.ts';
import { findOperators } from '../find-operators.ts';
import { findOthers } from '../find-others.ts';
import type { Takeover } from '../object.ts';
import { namesTaken } from '../taken.ts';
import { askServers } from './ask-servers.ts';
import { natsCarriedOver } from './carry-over.ts';
import { findLeftNats } from './find-left.ts';
import { legacyNatsOf } from './legacy.ts';
import { configOf, type NatsState } from './state.ts';

/** A NatsCluster has as many servers at most, and each a claim. */
const SERVERS_MAX = 9;

type Bare = Pick<NatsState, 'takeover' | 'nowMs' | 'isKindKnown'>;

export async function observeNats(
  kube: KubeClient,
  door: Pick<Door, 'monitor'> | undefined,
  bare: Bare,
  object: KubeObject | null,
  signal: AbortSignal,
): Promise<NatsState> {
  const { takeover } = bare;
  if (object === null) return { ...NOTHING_FOUND, ...bare };
  const legacy = legacyNatsOf(object);
  const left = await findLeftNats(kube, legacy, signal);
  const spec = natsCarriedOver(legacy, configOf(left), takeover.spec.into);
  const wanted = { ref: NATS_CLUSTERS, kind: 'NatsCluster', spec } as const;
  return {
    ...bare,
    legacy,
    ...left,
    ...(await findOperators(kube, takeover, signal)),
    servers: door && (await askServers(door.monitor, left.pods, signal)),
    target: await asStored<NatsClusterSpec>(kube, takeover, wanted, signal),
    taken: await findTakenNats(kube, takeover, signal),
    others: await findOthers(kube, takeover, signal),
  };
}

const NOTHING_FOUND: Omit<NatsState, keyof Bare> = {
  legacy: undefined,
  pods: [],
  strangers: [],
  isCut: false,
  client: undefined,
  routes: undefined,
  config: { is: 'missing' },
  operators: [],
  isOperatorForbidden: false,
  servers: undefined,
  target: { wanted: {}, spec: undefined },
  taken: [],
  others: [],
};

function findTakenNats(
  kube: KubeClient,
  { namespace, spec: { into } }: Takeover,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { name } = into;
  const claims = Array.from({ length: SERVERS_MAX }, (_, at) => `data-${name}-${at}`);
  const all = [
    { ref: NATS_CLUSTERS, kind: 'NatsCluster', name },
    { ref: SERVICES, kind: 'Service', name },
    { ref: SERVICES, kind: 'Service', name: `${name}-headless` },
    { ref: STATEFUL_SETS, kind: 'StatefulSet', name },
    ...claims.map((claim) => ({ ref: CLAIMS, kind: 'claim', name: claim })),
  ];
  return namesTaken(kube, namespace, all, signal);
}
