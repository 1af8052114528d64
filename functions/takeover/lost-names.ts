// Names of the client Service that the certificate of the old members has, and that of the new ones
// has not: nobody here knows which of them clients dial. Pure.
import { X509Certificate } from 'node:crypto';
import { givenIn } from './read-secrets.ts';
import { clientServiceOf, type LegacyEtcd } from './legacy.ts';
import { dataIn } from './refuse-secrets.ts';
import type { State } from './state.ts';

export function lostNames(state: State, legacy: LegacyEtcd): readonly string[] {
  const { serverSecret = '' } = legacy.tls ?? {};
  const old = parsed(dataIn(state, serverSecret)?.['server.crt']);
  const next = parsed(dataIn(state, givenIn(state.target))?.['tls.crt']);
  if (old === undefined || next === undefined) return [];
  const names = [...(old.subjectAltName ?? '').matchAll(/DNS:([^,\s]+)/g)].map(
    ([, name = '']) => name,
  );
  return names.filter(
    (name) => name.split('.')[0] === clientServiceOf(legacy) && next.checkHost(name) === undefined,
  );
}

/** One that cannot be read is told of elsewhere. */
function parsed(certificate: string | undefined): X509Certificate | undefined {
  try {
    return certificate === undefined ? undefined : new X509Certificate(certificate);
  } catch {
    return undefined;
  }
}
