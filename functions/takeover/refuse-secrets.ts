// Reasons against a takeover in the Secrets by which clients and members know each other: one that
// is missing, lacks a key, may not be read, or that nobody can ask with. Each says what to do.
// Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { SecretData } from '../../shared/stateful/certificates/secret-data.ts';
import { unfitToAsk } from '../../shared/stateful/certificates/unfit.ts';
import { givenIn } from './read-secrets.ts';
import type { State } from './state.ts';

export function refuseSecrets(state: State): readonly Reason[] {
  const { legacy, target } = state;
  if (legacy?.tls === undefined) return [];
  const { operatorSecret, serverSecret } = legacy.tls;
  const given = givenIn(target);
  return [
    ...unusable(state, operatorSecret),
    ...lackOf(state, serverSecret, ['server-ca.crt']),
    ...(given === '' ? [] : lackOf(state, given, ['tls.crt', 'tls.key', 'ca.crt'])),
  ];
}

/** Nobody can ask the members without it. */
const OF_OPERATOR = ['etcd-client.crt', 'etcd-client.key', 'etcd-client-ca.crt'];

export const canAsk = (state: State): boolean =>
  state.legacy?.tls === undefined || unusable(state, state.legacy.tls.operatorSecret).length === 0;

/** Whom members trust they say themselves, when they are asked. */
function unusable(state: State, name: string): readonly Reason[] {
  const lacks = lackOf(state, name, OF_OPERATOR);
  if (lacks.length > 0) return lacks;
  const { 'etcd-client.crt': certificate = '', 'etcd-client.key': key = '' } =
    dataIn(state, name) ?? {};
  const why = unfitToAsk({ certificate, key }, state.nowMs);
  if (why === undefined) return [];
  const message =
    `Secret ${state.takeover.namespace}/${name}, with which members are asked, ${why}. Put one ` +
    'into it as etcd-client.crt, with its etcd-client.key, that an authority in server-ca.crt ' +
    'signed.';
  return [{ reason: 'CertificateUnfit', message }];
}

function lackOf(state: State, name: string, keys: readonly string[]): readonly Reason[] {
  if (name === '') return [UNNAMED];
  const which = `Secret ${state.takeover.namespace}/${name}`;
  const secret = state.secrets.get(name) ?? { is: 'missing' };
  if (secret.is === 'forbidden') return [forbidden(state, which)];
  if (secret.is === 'missing') {
    const message = `There is no ${which}, by which clients and members know each other. Make it.`;
    return [{ reason: 'SecretMissing', message }];
  }
  const absent = keys.filter((key) => (secret.data[key] ?? '') === '');
  if (absent.length === 0) return [];
  const message = `${which} has no ${absent.join(' and no ')}. Put that into it.`;
  return [{ reason: 'SecretMissing', message }];
}

const UNNAMED: Reason = {
  reason: 'SecretMissing',
  message:
    'Its spec.TLS.static.operatorSecret names no Secret, so that nobody can ask its members. ' +
    'Name one with etcd-client.crt, etcd-client.key and etcd-client-ca.crt.',
};

function forbidden({ takeover: { namespace }, legacy, target }: State, which: string): Reason {
  const all = [legacy?.tls?.operatorSecret, legacy?.tls?.serverSecret, givenIn(target)];
  const named = all.flatMap((one) => (one ? [`--secret ${one}`] : [])).join(' ');
  const message =
    `The function may not read ${which}. Grant it that: npm run -s rights -- takeover -n ` +
    `${namespace} ${named} | kubectl apply -f -`;
  return { reason: 'SecretForbidden', message };
}

export function dataIn({ secrets }: State, name: string): SecretData | undefined {
  const secret = secrets.get(name);
  return secret?.is === 'found' ? secret.data : undefined;
}
