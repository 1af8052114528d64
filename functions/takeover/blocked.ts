// Sentences for what a person did meanwhile, of either kind that is taken over. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { CommonDecision } from './decision.ts';
import type { Records } from './records.ts';
import type { FoundService } from './state.ts';

/** Somebody else has taken the name since the plan. */
export function nameTaken(next: string, kind: string, name: string): CommonDecision {
  const message =
    `${kind} ${name} is there already and is not ours. Delete it if nobody needs it; or roll ` +
    'this back (spec.rollback: true), and create another Takeover.';
  const trouble = { reason: 'NameTaken', message };
  return waitFor(next, [trouble], trouble);
}

/** The Service of the clients, which is led over; `unknown` is what nobody knows since. */
export function serviceChanged(
  { work: { service } }: Records,
  found: FoundService | undefined,
  unknown: string,
): Reason {
  const { name, uid, selector } = service;
  const message =
    found?.uid === uid
      ? `Service ${name} is no longer as it was when the plan was confirmed, so nobody knows ` +
        `${unknown}. Give it back its selector (${selector}), or roll it back ` +
        '(spec.rollback: true).'
      : `Service ${name} with uid ${uid} is gone, so nobody knows ${unknown}. Make one with its ` +
        `selector (${selector}), roll this back (spec.rollback: true), and create another ` +
        'Takeover.';
  return { reason: 'ServiceChanged', message };
}
