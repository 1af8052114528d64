// Sentences for what a person did meanwhile, of either kind that is taken over. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { CommonDecision } from './decision.ts';
import type { Records } from './records.ts';
import type { FoundService } from './state.ts';
import { hasWayBack } from './way-back.ts';

/** Somebody else has taken the name since the plan. */
export function nameTaken(next: string, kind: string, name: string): CommonDecision {
  const message =
    `${kind} ${name} is there already and is not ours. Delete it if nobody needs it; or roll ` +
    'this back (spec.rollback: true), and create another Takeover.';
  const trouble = { reason: 'NameTaken', message };
  return waitFor(next, [trouble], trouble);
}

/** It is held to what was confirmed, whatever is written there since. */
export const SPEC_CHANGED: Reason = {
  reason: 'SpecChanged',
  message:
    'spec.into is another one than was confirmed. Write it as it was; or roll it back ' +
    '(spec.rollback: true) while there is a way, and create another Takeover.',
};

/** The Service of the clients, which is led over; `unknown` is what nobody knows since. */
export function serviceChanged(
  { work }: Pick<Records, 'work'>,
  found: FoundService | undefined,
  unknown: string,
): Reason {
  const { name, uid, selector } = work.service;
  const isBack = hasWayBack(work);
  const orBack = isBack ? ', or roll it back (spec.rollback: true)' : '';
  const anew = isBack
    ? `Make one with its selector (${selector}), roll this back (spec.rollback: true), and ` +
      'create another Takeover.'
    : 'Nothing leads back by now: make one of that name that leads to what was made.';
  const message =
    found?.uid === uid
      ? `Service ${name} is no longer as it was when the plan was confirmed, so nobody knows ` +
        `${unknown}. Give it back its selector (${selector})${orBack}.`
      : `Service ${name} with uid ${uid} is gone, so nobody knows ${unknown}. ${anew}`;
  return { reason: 'ServiceChanged', message };
}
