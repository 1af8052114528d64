// Leads the Service of the clients to the members that have joined, once the keys in them are the
// same. Both sides are one cluster, so that it can be led back. Pure.
import { waitFor } from '../../../shared/stateful/decision.ts';
import type { Records } from '../records.ts';
import type { State } from '../state.ts';
import type { JoinDecision } from './decision.ts';

export function switchService(state: State, { work }: Records): JoinDecision {
  const { client, joining, leadRefused } = state;
  const { name } = work.service;
  const next = `Lead Service ${name} to the new members`;
  if (leadRefused !== undefined) return waitFor(next, [leadRefused], leadRefused);
  if (client === undefined) {
    return waitFor(next, [{ reason: 'ServiceMissing', message: `Service ${name} is gone.` }]);
  }
  const hashes = joining?.hashes ?? NOT_COMPARED;
  if ('reason' in hashes) return waitFor(next, [hashes]);
  if (hashes.isSame) return { step: { type: 'switch-service', service: client }, next };
  const message =
    `The new members do not have the same keys: ${hashes.told}. Nobody is led to them. Roll it ` +
    'back (spec.rollback: true).';
  const trouble = { reason: 'KeysDiffer', message };
  return waitFor(next, [trouble], trouble);
}

const NOT_COMPARED = {
  reason: 'NotCompared',
  message: 'The keys of the new members are compared at the next look.',
};
