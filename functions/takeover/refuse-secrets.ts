// Reasons against a takeover in the Secrets by which clients and members know each other: one that
// is missing, lacks a key, may not be read, or that nobody can ask with. Each says what to do.
// Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { textOf } from '../../shared/kube/json.ts';
import { certificatesIn, type SecretData } from '../../shared/stateful/certificates/secret-data.ts';
import { hasExpired, unfitToAsk } from '../../shared/stateful/certificates/unfit.ts';
import { grantOfEtcd, misnamedIn } from './grant.ts';
import { fieldOf, type LegacyTls } from './legacy.ts';
import { givenIn } from './read-secrets.ts';
import type { State } from './state.ts';

export function refuseSecrets(state: State): readonly Reason[] {
  const { legacy } = state;
  if (legacy?.tls === undefined) return refusePeers(state);
  const { operatorSecret, serverSecret, served, trustSecret, trusted } = legacy.tls;
  if (operatorSecret === '') return [unnamed(legacy.tls)];
  return [
    ...refuseAccess(state),
    ...endSoon(state),
    ...(serverSecret === trustSecret ? [] : lackOf(state, serverSecret, [served])),
    ...(mayTrustBlindly(state) ? [] : lackOf(state, trustSecret, [trusted])),
    ...refuseGiven(state),
  ];
}

/** The Secret that the new members show. */
export function refuseGiven(state: State): readonly Reason[] {
  const given = givenIn(state.target);
  const lacks = given === '' ? [] : lackOf(state, given, ['tls.crt', 'tls.key', 'ca.crt']);
  return [...lacks, ...refusePeers(state)];
}

/** Nobody reads the one that the new members show each other. */
const refusePeers = ({ target }: State): readonly Reason[] =>
  misnamedIn([textOf(fieldOf(fieldOf(target.wanted, 'tls'), 'peers')['secretName'])]);

/**
 * A Secret of the authority alone may have the key of that, and nobody has to grant it: then one
 * client is known, the operator.
 */
export const mayTrustBlindly = ({ legacy, secrets }: State): boolean =>
  legacy?.tls !== undefined &&
  legacy.tls.trustSecret !== legacy.tls.serverSecret &&
  secrets.get(legacy.tls.trustSecret)?.is === 'forbidden';

export const canAsk = (state: State): boolean => refuseAccess(state).length === 0;

/** Why nobody can ask the members. Whom they trust they say themselves, when they are asked. */
export function refuseAccess(state: State): readonly Reason[] {
  const { tls } = state.legacy ?? {};
  if (tls === undefined) return [];
  const name = tls.operatorSecret;
  const { keys } = tls;
  const lacks = lackOf(state, name, Object.values(keys));
  if (lacks.length > 0) return lacks;
  const { [keys.certificate]: certificate = '', [keys.key]: key = '' } = dataIn(state, name) ?? {};
  const why = unfitToAsk({ certificate, key }, state.nowMs);
  if (why === undefined) return [];
  const message =
    `Secret ${state.takeover.namespace}/${name}, with which members are asked, ${why}. Put one ` +
    `into it as ${keys.certificate}, with its ${keys.key}, that an authority in ${tls.trusted} ` +
    'signed.';
  return [{ reason: 'CertificateUnfit', message }];
}

/** More than a takeover takes. */
const DAY_MS = 86_400_000;

/** Amid it nobody could be asked any more, and nobody could end the alarm. */
function endSoon(state: State): readonly Reason[] {
  const { takeover, legacy, nowMs } = state;
  if (legacy?.tls === undefined) return [];
  const { operatorSecret, keys, serverSecret, served } = legacy.tls;
  const all = [
    [operatorSecret, keys.certificate],
    [operatorSecret, keys.authority],
    [serverSecret, served],
  ] as const;
  return all.flatMap(([name, entry]) => {
    const certificate = dataIn(state, name)?.[entry] ?? '';
    const isSoon = hasExpired(certificate, nowMs + DAY_MS) && !hasExpired(certificate, nowMs);
    if (!isSoon) return [];
    const message =
      `${entry} of Secret ${takeover.namespace}/${name} expires within a day: then nobody could ` +
      'be asked with it, nor let writers go on. Have it signed anew first.';
    return [{ reason: 'CertificateUnfit', message }];
  });
}

function lackOf(state: State, name: string, keys: readonly string[]): readonly Reason[] {
  if (name === '') return [unnamed(state.legacy?.tls)];
  const misnamed = misnamedIn([name]);
  if (misnamed.length > 0) return misnamed;
  const which = `Secret ${state.takeover.namespace}/${name}`;
  const secret = state.secrets.get(name) ?? { is: 'missing' };
  if (secret.is === 'forbidden') return [forbidden(state, which)];
  if (secret.is === 'missing') {
    const message = `There is no ${which}, by which clients and members know each other. Make it.`;
    return [{ reason: 'SecretMissing', message }];
  }
  const absent = keys.flatMap((key) => {
    const { [key]: text = '' } = secret.data;
    if (text === '') return key;
    return key.endsWith('ca.crt') && certificatesIn(text).length === 0
      ? `certificate in ${key}`
      : [];
  });
  if (absent.length === 0) return [];
  const message = `${which} has no ${absent.join(' and no ')}. Put that into it.`;
  return [{ reason: 'SecretMissing', message }];
}

function unnamed(tls: LegacyTls | undefined): Reason {
  const { certificate = '', key = '', authority = '' } = tls?.keys ?? {};
  const field = tls?.namedIn ?? '';
  const message =
    `Its ${field} names no Secret, so that nobody can ask its members. Name one with ` +
    `${certificate}, ${key} and ${authority}.`;
  return { reason: 'SecretMissing', message };
}

function forbidden({ takeover, legacy }: State, which: string): Reason {
  const grant = grantOfEtcd(takeover, legacy);
  const message = `The function may not read ${which}. Grant it that: ${grant}`;
  return { reason: 'SecretForbidden', message };
}

export function dataIn({ secrets }: State, name: string): SecretData | undefined {
  const secret = secrets.get(name);
  return secret?.is === 'found' ? secret.data : undefined;
}
