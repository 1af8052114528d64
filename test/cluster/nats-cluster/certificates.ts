// Another certificate for the clients of a running cluster, brought by its user: every server shows
// it, and no pod is made anew; or it is not for them, and they keep theirs.
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'vitest';
import { issue, makeAuthority, type Validity } from '../../../shared/x509.ts';
import { reported } from '../../integration/nats-cluster/report.ts';
import { untilTrafficFlows } from '../../integration/nats-cluster/traffic.ts';
import { podUids, type Stage } from './scenarios.ts';

const forAnHour = (): Validity => ({ fromMs: Date.now() - 60_000, toMs: Date.now() + 3_600_000 });

/** The host name in the certificates that clients see. */
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

async function allShown(stage: Stage): Promise<readonly string[]> {
  const addresses = await stage.place.serverAddresses(stage.cluster);
  return Promise.all(addresses.map((address) => shown(address, serviceOf(stage))));
}

interface Shown {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Puts one for that name into a Secret, and names it in the spec; resolves with its authority. */
async function bring({ place, cluster }: Stage, secret: string, host: string): Promise<string> {
  const authority = makeAuthority('Shop', forAnHour());
  const { certPem, keyPem } = issue(authority, { commonName: host, hosts: [host] }, forAnHour());
  const files = { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': authority.certPem };
  await place.putSecret(cluster, secret, files);
  return authority.certPem;
}

const use = ({ place, cluster }: Stage, secretName: string): Promise<void> =>
  place.edit(cluster, { tls: { clients: { secretName } } });

/** Clients spoke TLS with the managed ones before. Resolves with what was and is shown. */
export async function bringCertificate(stage: Stage): Promise<Shown> {
  const { place, ours, cluster } = stage;
  const servername = serviceOf(stage);
  const { 'ca.crt': managed = '' } = await place.secret(cluster, `${cluster.name}-tls`);
  const [before, pods] = [await allShown(stage), await podUids(stage)];
  const ca = `${managed}${await bring(stage, 'own', servername)}`;
  const traffic = await place.startTraffic(cluster, {
    stream: 'ROTATED',
    replicas: 1,
    tls: { ca, servername },
  });
  await untilTrafficFlows(traffic);
  await use(stage, 'own');
  await place.wakeUntilReady(ours, cluster);
  const after = await allShown(stage);
  await untilTrafficFlows(traffic);
  reported('another certificate', await traffic.stop());
  expect(await podUids(stage)).toEqual(pods);
  return { before, after };
}

/** One for another name: it is refused. Resolves with what was and is shown. */
export async function bringUnfitCertificate(stage: Stage): Promise<Shown> {
  const { place, ours, cluster } = stage;
  const before = await allShown(stage);
  await bring(stage, 'unfit', `elsewhere.${cluster.namespace}.svc`);
  await use(stage, 'unfit');
  const isRefused = async () =>
    (await place.condition(cluster, 'Degraded')).startsWith('True CertificateUnfit');
  await place.wakeUntil(ours, cluster, 'a refusal', isRefused);
  expect(await place.condition(cluster, 'Degraded')).toContain(
    `spec.tls.clients names, has a certificate that is not for ${serviceOf(stage)}`,
  );
  return { before, after: await allShown(stage) };
}
