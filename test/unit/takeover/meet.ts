// Members that talk with those alone who know their names, trust their authority and show what the
// authority of the clients signed.
import { X509Certificate } from 'node:crypto';
import type { Access } from '../../../functions/takeover/access.ts';
import { Failure } from '../../../shared/errors.ts';
import { clients, servers } from './secrets.ts';
import { PODS_OF_OLD } from './world.ts';

/** `fresh`: addresses of new members. */
export function meetOver(fresh: readonly string[]): (access: Access) => void {
  const names = new Map([
    ...fresh.map((ip) => [ip, 'old-client.shop.svc'] as const),
    ...PODS_OF_OLD.map((pod) => [`10.0.0.${pod.charCodeAt(4)}`, `${pod}.old.shop.svc`] as const),
  ]);
  return ({ endpoints, tls }) => {
    const authority = new X509Certificate(clients.certPem).publicKey;
    const isKnown = new X509Certificate(tls?.cert ?? '').verify(authority);
    if (!isKnown || tls?.ca !== servers.certPem) throw refused('certificate');
    for (const { url, serverName } of endpoints) {
      const { protocol, hostname } = new URL(url);
      if (protocol !== 'https:' || serverName !== names.get(hostname)) throw refused(url);
    }
  };
}

const refused = (why: string): Failure => new Failure('ETCD_UNAVAILABLE', `bad ${why}`);
