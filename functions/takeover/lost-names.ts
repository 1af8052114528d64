// Names and addresses of the client Service for which the certificate of the old members is good,
// and that of the new ones is not: nobody here knows which of them clients dial. Pure.
import { X509Certificate } from 'node:crypto';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { givenIn } from './read-secrets.ts';
import type { LegacyEtcd } from './legacy.ts';
import { dataIn } from './refuse-secrets.ts';
import type { State } from './state.ts';

export function lostNames(state: State, legacy: LegacyEtcd): readonly string[] {
  const { serverSecret = '', served = '' } = legacy.tls ?? {};
  const old = parsed(dataIn(state, serverSecret)?.[served]);
  const next = parsed(dataIn(state, givenIn(state.target))?.['tls.crt']);
  if (old === undefined || next === undefined) return [];
  const service = legacy.clientService;
  const names = [...usualNames(service, legacy.namespace), ...ofKind(old, 'DNS')];
  const dialed = [...new Set(names)].filter((name) => name.split('.')[0] === service);
  return [
    ...dialed.filter((name) => isFor(old, name) && !isFor(next, name)),
    ...ofKind(old, 'IP Address').filter((ip) => isDialed(ip) && next.checkIP(ip) === undefined),
  ];
}

/** A wildcard may be good for these and name none of them. */
const usualNames = (service: string, namespace: string): readonly string[] => [
  service,
  `${service}.${namespace}`,
  `${service}.${namespace}.svc.cluster.local`,
];

const isFor = (certificate: X509Certificate, name: string): boolean =>
  certificate.checkHost(name) !== undefined;

const ofKind = ({ subjectAltName = '' }: X509Certificate, kind: string): readonly string[] =>
  [...subjectAltName.matchAll(new RegExp(`${kind}:([^,\\s]+)`, 'g'))].map(([, name = '']) => name);

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Nobody but the member itself dials its loopback; what is no address cannot be asked for. */
const isDialed = (ip: string): boolean =>
  isIP(ip) !== 0 && !LOOPBACK.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4');

/** One that cannot be read is told of elsewhere. */
function parsed(certificate: string | undefined): X509Certificate | undefined {
  try {
    return certificate === undefined ? undefined : new X509Certificate(certificate);
  } catch {
    return undefined;
  }
}
