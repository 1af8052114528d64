// Reasons against a takeover in the Secrets by which clients and members know each other: one that
// is missing, lacks a key, may not be read, or that nobody can ask with. Each says what to do.
// Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { SecretData } from '../../shared/stateful/certificates/secret-data.ts';
import { unfitToAsk, unfitToAskItself } from '../../shared/stateful/certificates/unfit.ts';
import { OF_OPERATOR } from './access.ts';
import { givenIn } from './read-secrets.ts';
import type { State } from './state.ts';

export function refuseSecrets(state: State): readonly Reason[] {
  const { legacy, target } = state;
  if (legacy?.tls === undefined) return [];
  const { serverSecret } = legacy.tls;
  const given = givenIn(target);
  return [
    ...refuseAccess(state),
    ...lackOf(state, serverSecret, ['server-ca.crt']),
    ...(given === '' ? [] : lackOf(state, given, ['tls.crt', 'tls.key', 'ca.crt'])),
  ];
}

export const canAsk = (state: State): boolean => refuseAccess(state).length === 0;

/** Why nobody can ask the members. Whom they trust they say themselves, when they are asked. */
export function refuseAccess(state: State): readonly Reason[] {
  const { tls } = state.legacy ?? {};
  if (tls === undefined) return [];
  const name = tls.operatorSecret;
  const lacks = lackOf(state, name, Object.values(OF_OPERATOR));
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

/** Why members that are there answer nobody: it is asked for once none has answered. */
export function refuseGateway(state: State): readonly Reason[] {
  const { serverSecret = '' } = state.legacy?.tls ?? {};
  const { 'server.crt': certificate, 'server-ca.crt': ca = '' } = dataIn(state, serverSecret) ?? {};
  const why = certificate && unfitToAskItself({ certificate, ca });
  if (!why) return [];
  const message =
    `No member answers: Secret ${state.takeover.namespace}/${serverSecret} ` +
    `${why.replace('ca.crt', 'server-ca.crt')}. Members are asked over HTTP, and pass that on to ` +
    'themselves as a client that shows their own certificate. Have an authority that clients ' +
    'trust, and that is in server-ca.crt, sign server.crt anew, for the same names, for servers ' +
    'and clients. Members take it up within two minutes; none has to start anew.';
  return [{ reason: 'GatewayClosed', message }];
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
