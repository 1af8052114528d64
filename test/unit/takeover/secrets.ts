// The Secrets of a legacy cluster with TLS on the model of the API server: members are signed by
// one authority and clients by another one, and the new members are as clients need them.
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { type Identity, issue, makeAuthority, type Validity } from '../../../shared/x509.ts';
import { begin, namespace, NOW_MS, world } from './world.ts';

export const validity: Validity = { fromMs: NOW_MS - 1_000, toMs: NOW_MS + 2 * 86_400_000 };
export const clients = makeAuthority('clients', validity);
export const servers = makeAuthority('servers', validity);
export const PAST: Validity = { fromMs: NOW_MS - 2_000, toMs: NOW_MS - 1_000 };
/** Both authorities. */
export const BOTH = `${clients.certPem}${servers.certPem}`;
export const HOSTS = ['old-client.shop.svc', 'new.shop.svc', '*.new-headless.shop.svc'];
/** Names in the certificate of the old members. */
export const OF_SERVER = { hosts: ['*.old.shop.svc', 'old-client.shop.svc', 'localhost'] };
const TLS = {
  static: { member: { serverSecret: 'server' }, operatorSecret: 'operator' },
};

export const into = (spec: object) => ({
  into: { name: 'new', spec: { quota: '2Gi', ...spec } },
});

export function putSecret(name: string, texts: Record<string, string>): void {
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  const metadata = { namespace, name };
  world.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data });
}

/** The Secret of the new members. */
export function putGiven(
  hosts: readonly string[],
  { ca = clients.certPem, by = servers } = {},
): void {
  const { certPem, keyPem } = issue(by, { hosts }, validity);
  putSecret('given', {
    'tls.crt': certPem,
    'tls.key': keyPem,
    'ca.crt': `${ca}${servers.certPem}`,
  });
}

/** The Secret of the old members. */
export function putServer({ certPem, keyPem }: Identity): void {
  putSecret('server', {
    'server.crt': certPem,
    'server.key': keyPem,
    'server-ca.crt': clients.certPem,
  });
}

export function putOperator(ca = servers.certPem): void {
  const { certPem, keyPem } = issue(clients, { commonName: 'operator' }, validity);
  putSecret('operator', {
    'etcd-client.crt': certPem,
    'etcd-client.key': keyPem,
    'etcd-client-ca.crt': ca,
  });
}

/** `peers`: by which members know each other. */
export function beginWithTls(more: object = {}, peers: object = { peerSecret: 'peer' }): void {
  const { static: settings } = TLS;
  const member = { ...settings.member, ...peers };
  const legacy = { TLS: { static: { ...settings, member } } };
  begin({ legacy, spec: { ...into({ tls: { clients: { secretName: 'given' } } }), ...more } });
  putOperator();
  putSecret('server', { 'server-ca.crt': clients.certPem });
  putGiven(HOSTS);
}

/** Good for servers alone: the usage of clients becomes that of servers. It is signed no more. */
export function forServers(certPem: string): string {
  const [ofClients, ofServers] = ['06082b06010505070302', '06082b06010505070301'];
  const der = Buffer.from(certPem.replaceAll(/-----.*?-----/g, ''), 'base64').toString('hex');
  if (!der.includes(ofClients)) throw new Error('it was good for servers alone before');
  const body = Buffer.from(der.replace(ofClients, ofServers), 'hex').toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
}
