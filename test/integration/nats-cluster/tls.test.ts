// Certificates: made and handed out by us, and brought by the user; a new one is taken over by
// running servers, and by their routes.
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  issue,
  makeAuthority,
  type Validity,
} from '../../../functions/nats-cluster/certificate.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { Place } from './place.ts';
import { SCENARIO_MS } from './scene.ts';
import { reported } from './report.ts';
import { Traffic } from './traffic.ts';

let place: Place;
let ours: RunningFunction;
const cluster = { namespace: 'shop', name: 'nats' };
const SERVICE = 'nats.shop.svc';
const settings = { timeout: SCENARIO_MS };
const forAnHour = (): Validity => ({ fromMs: Date.now() - 60_000, toMs: Date.now() + 3_600_000 });

beforeAll(async () => {
  place = await Place.start();
  await place.namespace('shop');
  ours = await place.startFunction();
  await place.create(cluster, { lameDuck: { graceSeconds: 1 }, tls: { clients: {}, routes: {} } });
  await place.tickUntilReady(ours, cluster);
}, SCENARIO_MS);

afterAll(async () => {
  await place?.stop();
});

async function startTraffic(ca: string, stream: string): Promise<Traffic> {
  const { username: user = '', password: pass = '' } = await place.secret(cluster, 'nats-user');
  const tls = { ca, servername: SERVICE };
  return Traffic.start({ servers: await place.addresses(cluster, 3), user, pass, stream, tls });
}

/** The certificate that a server shows to a client now. */
async function shown(address: string): Promise<string> {
  const [host = '', port] = address.split(':');
  const socket = connectTcp(Number(port), host);
  // The server speaks first, in the clear.
  await new Promise((resolve) => socket.once('data', resolve));
  const secure = connectTls({ socket, servername: SERVICE, rejectUnauthorized: false });
  await new Promise((resolve) => secure.once('secureConnect', resolve));
  const { fingerprint256 } = secure.getPeerCertificate();
  secure.destroy();
  return fingerprint256;
}

const allShown = async (): Promise<readonly string[]> =>
  Promise.all((await place.addresses(cluster, 3)).map(shown));

test('clients speak TLS with certificates that were made for them', settings, async () => {
  const { 'ca.crt': ca = '' } = await place.secret(cluster, 'nats-tls');
  const traffic = await startTraffic(ca, 'MANAGED');
  const report = await traffic.stop();
  reported('managed certificates', report);
  expect(report.acknowledged).toBeGreaterThan(0);
});

test('a certificate of the user is taken over without a restart', settings, async () => {
  const { 'ca.crt': managed = '' } = await place.secret(cluster, 'nats-tls');
  const before = await allShown();
  const uids = async () => (await place.pods(cluster)).map(({ metadata }) => metadata.uid);
  const pods = await uids();
  const authority = makeAuthority('Shop', forAnHour());
  const { certificate, key } = issue(authority, [SERVICE], forAnHour());
  const own = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority.certificate };
  await place.putSecret(cluster, 'own', own);
  const traffic = await startTraffic(`${managed}${authority.certificate}`, 'ROTATED');
  await place.edit(cluster, { tls: { clients: { secretName: 'own' } } });
  await place.tickUntilReady(ours, cluster);
  const after = await allShown();
  reported('another certificate', await traffic.stop());
  expect(after.filter((one) => before.includes(one))).toEqual([]);
  expect(await uids()).toEqual(pods);
});

test(
  'a certificate for another name is refused, and the servers keep theirs',
  settings,
  async () => {
    const authority = makeAuthority('Shop', forAnHour());
    const { certificate, key } = issue(authority, ['elsewhere.shop.svc'], forAnHour());
    const wrong = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority.certificate };
    const before = await allShown();
    await place.putSecret(cluster, 'wrong', wrong);
    await place.edit(cluster, { tls: { clients: { secretName: 'wrong' } } });
    const isRefused = async () =>
      (await place.condition(cluster, 'Degraded')).startsWith('True CertificateUnfit');
    await place.tickUntil(ours, cluster, 'a refusal', isRefused);
    expect(await place.condition(cluster, 'Degraded')).toContain(
      'spec.tls.clients names, has a certificate that is not for nats.shop.svc',
    );
    expect(await allShown()).toEqual(before);
  },
);
