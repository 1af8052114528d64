// Reasons against a takeover of an EtcdCluster of aenix's operator: what an EtcdCluster of ours has
// no words for, and what would lose its claims. Each says what to do. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { answersOf } from '../answers.ts';
import { fieldOf, type LegacyEtcd } from '../legacy.ts';
import type { State } from '../state.ts';
import { optionsIn } from './aenix-options.ts';
import { podsIn } from './aenix-pods.ts';
import { refuseFinalizers } from './finalizers.ts';
import { refuseNewer } from './newer.ts';

export const refuseAenix = (state: State, legacy: LegacyEtcd): readonly Reason[] => [
  ...refuseFinalizers(legacy),
  ...refuseAuth(state, legacy),
  ...refuseUnsaid(legacy),
  ...refuseTls(legacy),
  ...refuseNewer(state),
];

/** Members that ask for logins may tell strangers nothing. */
function refuseAuth(state: State, { spec }: LegacyEtcd): readonly Reason[] {
  const isSaid = fieldOf(spec, 'security')['enableAuth'] === true;
  // Those who say so themselves are told of for themselves.
  if (!isSaid || answersOf(state).some(({ answer }) => answer.hasAuth)) return [];
  const message =
    'Its spec.security.enableAuth is true, so that members ask for logins, which the takeover ' +
    'has none of. Write false while its operator runs, and have spec.auth in the new EtcdCluster ' +
    'afterwards.';
  return [{ reason: 'AuthEnabled', message }];
}

function refuseUnsaid({ spec }: LegacyEtcd): readonly Reason[] {
  const { unsaid } = optionsIn(spec);
  const { overridden } = podsIn(spec);
  const cannot = [
    ...unsaid.map((name) => `spec.options ${name}`),
    ...overridden.map((name) => `${name} of container etcd in spec.podTemplate`),
  ];
  if (cannot.length === 0) return [];
  const message =
    `Members have what an EtcdCluster has no words for, and clients may live by it: ` +
    `${listed(cannot)}. Take it out while its operator runs if they do not, or stay.`;
  return [{ reason: 'CannotSay', message }];
}

function refuseTls({ tls }: LegacyEtcd): readonly Reason[] {
  if (tls === undefined || tls.operatorSecret !== '') return [];
  const message =
    'Its members show clients a certificate and ask them for none; those of an EtcdCluster do ' +
    'both or neither. Give all clients certificates, and name spec.security.tls.clientSecret and ' +
    'clientTrustedCASecret while its operator runs.';
  return [{ reason: 'CannotSay', message }];
}
