// Reasons against a takeover of a NatsCluster by what its servers were told, and by the Secret that
// is made of that. Each is a sentence that says what to do. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { textOf } from '../../../shared/kube/json.ts';
import { isObjectName } from '../../../shared/kube/object-name.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { grantLine, misnamedIn, type Named } from '../grant.ts';
import { fieldOf } from '../legacy.ts';
import { usersSecretOf } from './carry-over.ts';
import { CONFIG_KEY, type LegacyNats } from './legacy.ts';
import { makerOf } from './made/makers.ts';
import type { NatsState } from './state.ts';

export function refuseConfig(state: NatsState, legacy: LegacyNats): readonly Reason[] {
  const { takeover, config: found } = state;
  const { configKind, words } = makerOf(takeover.spec.legacy);
  const which = `${configKind} ${takeover.namespace}/${legacy.configName}`;
  if (found.is === 'forbidden') {
    const message =
      `The function may not read ${which}, which has what the servers were told. Grant it that: ` +
      grantOf(state);
    return [{ reason: 'SecretForbidden', message }];
  }
  if (found.is === 'missing') {
    const message =
      `There is no ${which} with ${CONFIG_KEY} in it, so that nobody knows whom the servers let ` +
      `in. ${words.restored}: ${legacy.name}.`;
    return [{ reason: 'SecretMissing', message }];
  }
  if (found.is === 'odd') {
    const message = `${CONFIG_KEY} in ${which} is ${found.why}. Write it so, or do it by hand.`;
    return [{ reason: 'ConfigUnreadable', message }];
  }
  const { lacks, isOpen } = found.config;
  return [
    ...refuseUnread(state),
    ...refuseLacks(lacks, words.takeOut),
    ...(isOpen ? [noLogin(words.askLogin)] : []),
  ];
}

/** Passwords that stand there as variables. */
function refuseUnread(state: NatsState): readonly Reason[] {
  const { takeover, config } = state;
  const all = config.is === 'found' ? (config.unread ?? []) : [];
  const unread = all.filter(({ name }) => isObjectName(name));
  return unread.map(({ name, key }) => {
    const which = `Secret ${takeover.namespace}/${name}`;
    if (key === undefined) {
      const message =
        `The function may not read ${which}, from which servers have a password. Grant it that: ` +
        grantOf(state);
      return { reason: 'SecretForbidden', message };
    }
    const message =
      `There is no ${which} with ${key}, from which servers have a password, or there is more in ` +
      'it than one word, which NATS reads as a part of its file. Put it back, or write it so.';
    return { reason: 'SecretMissing', message };
  });
}

function refuseLacks(lacks: readonly string[], takeOut: string): readonly Reason[] {
  if (lacks.length === 0) return [];
  const message =
    `The servers have what a NatsCluster cannot be told: ${listed(lacks)}. Whoever needs that ` +
    `would be cut off. Lead those clients elsewhere and ${takeOut}, or stay with these servers.`;
  return [{ reason: 'CannotSay', message }];
}

const noLogin = (askLogin: string): Reason => ({
  reason: 'NoLogin',
  message:
    'The servers ask nobody for a login, and a NatsCluster asks everybody. Give all clients one ' +
    `first, which these servers take without a look, and ${askLogin}.`,
});

/** The Secret must not be there, and that has to be seen. */
export function refuseUsers(state: NatsState): readonly Reason[] {
  const { takeover, users, config } = state;
  const { namespace, spec } = takeover;
  const which = `Secret ${namespace}/${usersSecretOf(spec.into)}`;
  if (users.is === 'forbidden' && config.is !== 'forbidden') {
    const message =
      `The function may not see whether ${which} is there, into which it puts the passwords of ` +
      `the users. Grant it that: ${grantOf(state)}`;
    return [{ reason: 'SecretForbidden', message }];
  }
  if (users.is !== 'found') return [];
  const message =
    `${which} is there already, and the passwords of the users would be put there. Write another ` +
    'name in spec.into.name, or delete it if nobody needs it.';
  return [{ reason: 'NameTaken', message }];
}

type Granted = Pick<NatsState, 'takeover' | 'target' | 'config'>;

/** All at once: what is granted replaces what was. */
export const grantOf = (state: Granted): string => grantLine(state.takeover, namedIn(state));

export const refuseMisnamed = (state: Granted): readonly Reason[] =>
  misnamedIn(namedIn(state).secrets);

function namedIn(state: Granted): Named {
  const { legacy, into } = state.takeover.spec;
  const tls = fieldOf(state.target.wanted, 'tls');
  const given = ['clients', 'routes'].map((one) => textOf(fieldOf(tls, one)['secretName']));
  const { secrets, ...others } = makerOf(legacy).grantsOf(state);
  return { ...others, secrets: [...secrets, usersSecretOf(into), ...given] };
}
