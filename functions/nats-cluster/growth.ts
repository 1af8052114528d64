// Plans the growth of a cluster's volumes, when the spec asks for more than a claim has: the claims
// are made larger one after the other; where the storage class does not allow it, that is reported.
// Pure.
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import type { State } from './state.ts';

/** Before the StatefulSet and the configuration count on the larger size. */
export function grow({ parts: { growth } }: State): Decision | undefined {
  if (growth === undefined || !growth.isAllowed) return undefined;
  const { claim, size } = growth;
  return { step: { type: 'grow', claim, size }, next: nextOf(growth) };
}

/** All else is as the spec says. */
export function refuseGrowth({ parts: { growth } }: State): Decision | undefined {
  if (growth === undefined || growth.isAllowed) return undefined;
  const { claim } = growth;
  const message =
    `Storage class ${claim.storageClassName ?? 'of the cluster'} does not let claims grow, so ` +
    `${claim.name} stays at ${claim.size}; create another NatsCluster, or allow it there.`;
  const blocker = { reason: 'StorageCannotGrow', message };
  return waitFor(nextOf(growth), [blocker], blocker);
}

const nextOf = ({ claim, size }: NonNullable<State['parts']['growth']>): string =>
  `Let claim ${claim.name} grow to ${size}`;
