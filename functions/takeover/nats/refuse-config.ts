// Reasons against a takeover of a NatsCluster by what its servers were told, and by the Secret that
// is made of that. Each is a sentence that says what to do. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { textOf } from '../../../shared/kube/json.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { grantLine } from '../grant.ts';
import { fieldOf } from '../legacy.ts';
import { usersSecretOf } from './carry-over.ts';
import { CONFIG_KEY, configSecretOf, type LegacyNats, NATS_LABEL } from './legacy.ts';
import type { NatsState } from './state.ts';

export function refuseConfig(
  { takeover, config: found, target }: NatsState,
  legacy: LegacyNats,
): readonly Reason[] {
  const { namespace } = takeover;
  const name = configSecretOf(legacy);
  const which = `Secret ${namespace}/${name}`;
  if (found.is === 'forbidden') {
    const message =
      `The function may not read ${which}, which has what the servers were told. Grant it that: ` +
      grantOf({ takeover, target });
    return [{ reason: 'SecretForbidden', message }];
  }
  if (found.is === 'missing') {
    const message =
      `There is no ${which} with ${CONFIG_KEY} in it, so that nobody knows whom the servers let ` +
      'in. Put the file of a pod there (/etc/nats-config/nats.conf), with the label ' +
      `${NATS_LABEL}: ${legacy.name}.`;
    return [{ reason: 'SecretMissing', message }];
  }
  if (found.is === 'odd') {
    const message =
      `${CONFIG_KEY} in ${which} is not as the operator writes it: JSON. Write it so, or do it ` +
      'by hand.';
    return [{ reason: 'ConfigUnreadable', message }];
  }
  const { lacks, isOpen } = found.config;
  return [...refuseLacks(lacks), ...(isOpen ? [NO_LOGIN] : [])];
}

function refuseLacks(lacks: readonly string[]): readonly Reason[] {
  if (lacks.length === 0) return [];
  const message =
    `The servers have what a NatsCluster cannot be told: ${listed(lacks)}. Whoever needs that ` +
    'would be cut off. Lead those clients elsewhere and take it out of the legacy object while ' +
    'its operator runs, or stay with these servers.';
  return [{ reason: 'CannotSay', message }];
}

const NO_LOGIN: Reason = {
  reason: 'NoLogin',
  message:
    'The servers ask nobody for a login, and a NatsCluster asks everybody. Give all clients one ' +
    'first, which these servers take without a look, and name it in spec.into.spec.accounts.',
};

/** The Secret must not be there, and that has to be seen. */
export function refuseUsers({ takeover, users, config, target }: NatsState): readonly Reason[] {
  const { namespace, spec } = takeover;
  const which = `Secret ${namespace}/${usersSecretOf(spec.into)}`;
  if (users.is === 'forbidden' && config.is !== 'forbidden') {
    const message =
      `The function may not see whether ${which} is there, into which it puts the passwords of ` +
      `the users. Grant it that: ${grantOf({ takeover, target })}`;
    return [{ reason: 'SecretForbidden', message }];
  }
  if (users.is !== 'found') return [];
  const message =
    `${which} is there already, and the passwords of the users would be put there. Write another ` +
    'name in spec.into.name, or delete it if nobody needs it.';
  return [{ reason: 'NameTaken', message }];
}

/** All at once: what is granted replaces what was. */
export function grantOf({ takeover, target }: Pick<NatsState, 'takeover' | 'target'>): string {
  const { spec } = takeover;
  const tls = fieldOf(target.wanted, 'tls');
  const given = ['clients', 'routes'].map((one) => textOf(fieldOf(tls, one)['secretName']));
  const names = [configSecretOf(spec.legacy), usersSecretOf(spec.into), ...given];
  return grantLine(takeover, { secrets: names });
}
