// Another certificate for the clients of a running cluster, brought by its user: every server shows
// it, and no pod is made anew.
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'vitest';
import { issue, makeAuthority, type Validity } from '../../../shared/x509.ts';
import { reported } from './report.ts';
import { podUids, type Stage, startTraffic } from './scenarios.ts';

const forAnHour = (): Validity => ({ fromMs: Date.now() - 60_000, toMs: Date.now() + 3_600_000 });

/** As a user's Secret, from an authority of their own. */
export function certificateFor(host: string): Readonly<Record<string, string>> {
  const authority = makeAuthority('Shop', forAnHour());
  const { certPem, keyPem } = issue(authority, { commonName: host, hosts: [host] }, forAnHour());
  return { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': authority.certPem };
}

/** What the certificates of clients are for. */
const serviceOf = ({ cluster: { name, namespace } }: Stage): string => `${name}.${namespace}.svc`;

/** The certificate that a server shows to a client now. */
async function shown(address: string, servername: string): Promise<string> {
  const [host = '', port] = address.split(':');
  const socket = connectTcp(Number(port), host);
  // The server speaks first, in the clear.
  await new Promise((resolve) => socket.once('data', resolve));
  const secure = connectTls({ socket, servername, rejectUnauthorized: false });
  await new Promise((resolve) => secure.once('secureConnect', resolve));
  const { fingerprint256 } = secure.getPeerCertificate();
  secure.destroy();
  return fingerprint256;
}

export async function allShown(stage: Stage): Promise<readonly string[]> {
  const addresses = await stage.place.serverAddresses(stage.cluster);
  return Promise.all(addresses.map((address) => shown(address, serviceOf(stage))));
}

/** Resolves with the certificates that were shown before and are shown after. */
export async function bringCertificate(
  stage: Stage,
): Promise<Readonly<Record<'before' | 'after', readonly string[]>>> {
  const { place, ours, cluster } = stage;
  const servername = serviceOf(stage);
  const { 'ca.crt': managed = '' } = await place.secret(cluster, `${cluster.name}-tls`);
  const [before, pods] = [await allShown(stage), await podUids(stage)];
  const own = certificateFor(servername);
  await place.putSecret(cluster, 'own', own);
  const ca = `${managed}${own['ca.crt']}`;
  const traffic = await startTraffic(stage, { stream: 'ROTATED', tls: { ca, servername } });
  await place.edit(cluster, { tls: { clients: { secretName: 'own' } } });
  await place.tickUntilReady(ours, cluster);
  const after = await allShown(stage);
  reported('another certificate', await traffic.stop());
  expect(await podUids(stage)).toEqual(pods);
  return { before, after };
}
