// Makes the NatsCluster beside the old servers, and then the Secret with the passwords of its
// users, which belongs to it. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { waitFor } from '../../../shared/stateful/decision.ts';
import type { Records } from '../records.ts';
import { nameTaken } from '../blocked.ts';
import { targetHash } from './begin.ts';
import { usersSecretOf } from './carry-over.ts';
import type { NatsDecision } from './decision.ts';
import { grantOf, refuseConfig } from './refuse-config.ts';
import { refuseLoaded } from './refuse-loaded.ts';
import { keysWanted } from './render.ts';
import type { FoundNatsCluster, NatsState } from './state.ts';

const NEXT = 'Make the NatsCluster';

export function isMade(state: NatsState): boolean {
  const cluster = state.work?.cluster;
  if (cluster?.isOurs !== true || !cluster.isReady || cluster.isEnding) return false;
  return makeUsers(state, cluster) === undefined;
}

export function makeCluster(state: NatsState, { work }: Records): NatsDecision {
  const { takeover, legacy, work: seen } = state;
  const cluster = seen?.cluster;
  if (cluster === undefined) {
    const [unknown] =
      legacy === undefined ? [] : [...refuseConfig(state, legacy), ...refuseLoaded(state)];
    const obstacle = unknown ?? (targetHash(state) === work.target ? undefined : CHANGED);
    if (obstacle !== undefined) return waitFor(NEXT, [obstacle], obstacle);
    return { step: { type: 'make-nats-cluster' }, next: NEXT };
  }
  if (!cluster.isOurs) return nameTaken(NEXT, 'NatsCluster', takeover.spec.into.name);
  if (cluster.isEnding) return awaited(cluster);
  return makeUsers(state, cluster) ?? awaited(cluster);
}

const CHANGED: Reason = {
  reason: 'SpecChanged',
  message:
    'What the old servers were told is another thing than when the plan was confirmed, and so ' +
    'would be the new NatsCluster. Roll it back (spec.rollback: true), and create another ' +
    'Takeover.',
};

/** Undefined where nothing lacks. */
function makeUsers(state: NatsState, cluster: FoundNatsCluster): NatsDecision | undefined {
  const { takeover, target, users } = state;
  const { namespace, spec } = takeover;
  const name = usersSecretOf(spec.into);
  const isWanted = keysWanted(target.wanted, name).length > 0;
  if (!isWanted || users.owners.includes(cluster.uid)) return undefined;
  if (users.is === 'found') return nameTaken(NEXT, 'Secret', name);
  const next = `Make Secret ${name}`;
  const [stale] = refuseLoaded(state);
  if (stale !== undefined) return waitFor(next, [stale], stale);
  if (users.is === 'missing') return { step: { type: 'make-users', cluster }, next };
  const message =
    `The function may not see Secret ${namespace}/${name} any more. Grant it that: ` +
    grantOf(state);
  const trouble = { reason: 'SecretForbidden', message };
  return waitFor(next, [trouble], trouble);
}

function awaited({ name, says }: FoundNatsCluster): NatsDecision {
  const message = `The new NatsCluster ${name} is not Ready: ${says}`;
  return waitFor(NEXT, [{ reason: 'NatsClusterStarting', message }]);
}
