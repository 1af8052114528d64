// Certificates of members that have ten days left, as if eighty had gone by: the function renews
// them, every member shows the new ones, to clients and to each other, and no pod is made anew.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { CLIENT_PORT, PEER_PORT } from '../../../shared/api/etcd-names.ts';
import type { EtcdTls } from '../../../shared/etcd/tls.ts';
import { issue } from '../../../shared/x509.ts';
import { type Named, SECRETS } from '../../integration/etcd-cluster/etcd-scene.ts';
import type { EtcdPodPlace } from './pod-place.ts';

const DAY_MS = 86_400_000;
const DAYS_LEFT = 10;

const LISTENERS = { clients: ['server', 'client'], peers: ['peer'] } as const;

/** Signed by the authority that the members know. */
export async function age(
  place: EtcdPodPlace,
  { namespace, name }: Named,
  use: keyof typeof LISTENERS,
): Promise<void> {
  const target = { namespace, name: `${name}-${use}-ca` };
  const data = (await place.kube.get(SECRETS, target))?.['data'] as Record<string, string>;
  const field = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  const authority = { certPem: field('ca.crt'), keyPem: field('ca.key') };
  const stringData: Record<string, string> = {};
  for (const listener of LISTENERS[use]) {
    const { subjectAltName = '' } = new X509Certificate(field(`${listener}.crt`));
    const hosts = subjectAltName.split(', ').map((one) => one.replace(/^DNS:/, ''));
    const validity = {
      fromMs: Date.now() - DAY_MS,
      toMs: Date.now() + DAYS_LEFT * DAY_MS,
    };
    const subject = { commonName: hosts[0] ?? '', hosts };
    const { certPem, keyPem } = issue(authority, subject, validity);
    stringData[`${listener}.crt`] = certPem;
    stringData[`${listener}.key`] = keyPem;
  }
  await place.kube.patch(SECRETS, target, { type: 'merge', body: { stringData } });
}

/** Each member shows one to clients, and one to members. */
export async function allShown(place: EtcdPodPlace, cluster: Named): Promise<readonly string[]> {
  const tls = await place.clientTls(cluster);
  const shows = (await place.pods(cluster)).flatMap(({ status }) => {
    const host = String(Object(status).podIP);
    return [CLIENT_PORT, PEER_PORT].map((port) => shown(host, port, tls));
  });
  return Promise.all(shows);
}

async function shown(host: string, port: number, tls: EtcdTls | undefined): Promise<string> {
  const socket = connect({ host, port, ...tls, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}
