// The EtcdCluster that a takeover makes itself, where no EtcdRestore does: its members join the old
// ones, or it is born empty. It stays when the Takeover goes. Pure.
import { ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import { peerNameOf } from '../../shared/api/etcd-names.ts';
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import { hashOf } from '../../shared/hash.ts';
import type { Manifest } from '../../shared/kube/objects.ts';
import { type Decision as DecisionOf, waitFor } from '../../shared/stateful/decision.ts';
import { nameTaken } from './blocked.ts';
import { carriedOver } from './carry-over.ts';
import type { CommonStep } from './decision.ts';
import { clusterFor } from './made-for.ts';
import type { Takeover } from './object.ts';
import type { FoundCluster, State } from './state.ts';

export interface MakeStep {
  readonly type: 'make-etcd-cluster';
}

/** As the API server is asked, whatever makes it, how it would store it. */
export const ownClusterManifest = (
  takeover: Takeover,
  spec: Readonly<Record<string, unknown>>,
): Manifest => clusterFor(takeover, { ref: ETCD_CLUSTERS, kind: 'EtcdCluster' }, spec);

/** The EtcdCluster that is to be made. */
export const targetHash = ({ legacy, takeover }: State): string =>
  legacy === undefined ? '' : hashOf(carriedOver(legacy, takeover.spec));

/** Its members when it is made; none where the API server would not store it. */
export const newPeers = ({ takeover, target }: State): readonly string[] =>
  Array.from({ length: target.spec?.replicas ?? 0 }, (_, at) =>
    peerNameOf(takeover.spec.into.name, at),
  );

/** Undefined once it is there. */
export function makeOwnCluster(
  state: State,
  { target }: TakeoverWork,
  cluster: FoundCluster | undefined,
): DecisionOf<CommonStep | MakeStep> | undefined {
  const next = 'Make the EtcdCluster';
  if (cluster?.isOurs === false) return nameTaken(next, 'EtcdCluster', cluster.name);
  if (cluster?.isEnding === true) {
    const message = `EtcdCluster ${cluster.name} is being deleted by somebody.`;
    const ending = { reason: 'Ending', message };
    return waitFor(next, [ending], ending);
  }
  if (cluster !== undefined) return undefined;
  if (targetHash(state) !== target) return waitFor(next, [CHANGED], CHANGED);
  return { step: { type: 'make-etcd-cluster' }, next };
}

const CHANGED = {
  reason: 'SpecChanged',
  message:
    'The old EtcdCluster says something else than when the plan was confirmed, and so would the ' +
    'new one. Roll it back (spec.rollback: true), and create another Takeover.',
};
