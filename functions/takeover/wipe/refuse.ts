// Reasons against a takeover that gives the data up: nobody has written that, the new EtcdCluster
// would not be empty, or it could not be made. How old members are is no reason. Each says what to
// do. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { refuseNames } from '../refuse-found.ts';
import { refuseGiven } from '../refuse-secrets.ts';
import { refuseCertificates, refuseTarget } from '../refuse-target.ts';
import type { Seen, State } from '../state.ts';
import { isSaid } from './mode.ts';

/** Before anything is confirmed the plan may be read without it. */
export function refuseUnsaid(state: State): readonly Reason[] {
  const { confirm, wipe } = state.takeover.spec;
  const isRead = confirm === undefined && wipe === undefined;
  return isRead || isSaid(state) ? [] : [unsaid(state)];
}

/** The definition refuses it as well. */
export function unsaid({ takeover: { spec } }: Pick<Seen, 'takeover'>): Reason {
  const { name } = spec.legacy;
  const message =
    `spec.mode is Wipe, which gives all data of EtcdCluster ${name} up, and spec.wipe is ` +
    `${spec.wipe === undefined ? 'not there' : `not ${name}`}. If that is what you want, write ` +
    `wipe: ${name} beside confirm.`;
  return { reason: 'WipeUnsaid', message };
}

const IS_CLAIM = /^claim /;

/** An EtcdCluster goes on with the data of claims that it finds. */
export function refuseFilled(state: State): readonly Reason[] {
  const claims = state.taken.filter((one) => IS_CLAIM.test(one));
  const others = refuseNames({ ...state, taken: state.taken.filter((one) => !IS_CLAIM.test(one)) });
  if (claims.length === 0) return others;
  const { namespace, spec } = state.takeover;
  const message =
    `The new EtcdCluster ${namespace}/${spec.into.name} is to be empty, and of its members there ` +
    `is data already: ${listed(claims)}. Write another name in spec.into.name, or delete these ` +
    'if nobody needs them.';
  return [{ reason: 'NotEmpty', message }, ...others];
}

/** Nothing is brought over, so that it does not matter how much there is. */
export const refuseEmptyTarget = (state: State): readonly Reason[] =>
  refuseTarget({ ...state, members: undefined });

/** A certificate that nobody has named would be of an authority that no client trusts. */
export const refuseUncertified = (state: State): readonly Reason[] => [
  ...refuseGiven(state),
  ...refuseCertificates(state).filter(({ reason }) => reason === 'CertificateMissing'),
];
