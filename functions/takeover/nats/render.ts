// The objects that are made for a takeover of a NatsCluster: the NatsCluster, which stays when the
// Takeover goes, and the Secret with the passwords of its users, which goes with it. Pure.
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { isRecord } from '../../../shared/kube/json.ts';
import { apiVersionOf, type Manifest } from '../../../shared/kube/objects.ts';
import { type Fields, recordsIn } from '../legacy/said.ts';
import { clusterFor, labelsFor } from '../made-for.ts';
import type { Takeover } from '../object.ts';
import type { FoundMade } from '../state.ts';
import { usersSecretOf } from './carry-over.ts';

export const natsClusterManifest = (takeover: Takeover, spec: Fields): Manifest =>
  clusterFor(takeover, { ref: NATS_CLUSTERS, kind: 'NatsCluster' }, spec);

export function usersManifest(
  takeover: Takeover,
  { name, uid }: Pick<FoundMade, 'name' | 'uid'>,
  stringData: Readonly<Record<string, string>>,
): Manifest {
  const { namespace, spec } = takeover;
  const owner = { apiVersion: apiVersionOf(NATS_CLUSTERS), kind: 'NatsCluster', name, uid };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace,
      name: usersSecretOf(spec.into),
      labels: labelsFor(takeover),
      ownerReferences: [owner],
    },
    type: 'Opaque',
    stringData,
  };
}

/** Keys that users of this spec have in the Secret that is made for them. */
export function keysWanted(spec: Fields, secret: string): readonly string[] {
  const users = recordsIn(spec['accounts']).flatMap(({ users: own }) => recordsIn(own));
  return users.flatMap(({ passwordSecret: from }) =>
    isRecord(from) && from['name'] === secret ? [String(from['key'])] : [],
  );
}
