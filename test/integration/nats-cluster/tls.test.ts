// Certificates: made and handed out by us, and brought by the user; a new one is taken over by
// running servers, and by their routes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { allShown, bringCertificate, certificateFor } from './certificates.ts';
import { Place } from './place.ts';
import { reported } from './report.ts';
import { startTraffic } from './scenarios.ts';
import { SCENARIO_MS } from './scene.ts';

let place: Place;
let ours: RunningFunction;
const cluster = { namespace: 'shop', name: 'nats' };
const SERVICE = 'nats.shop.svc';
const settings = { timeout: SCENARIO_MS };
const stage = () => ({ place, ours, cluster });

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

test('clients speak TLS with certificates that were made for them', settings, async () => {
  const { 'ca.crt': ca = '' } = await place.secret(cluster, 'nats-tls');
  const tls = { ca, servername: SERVICE };
  const traffic = await startTraffic(stage(), { stream: 'MANAGED', tls });
  const report = await traffic.stop();
  reported('managed certificates', report);
  expect(report.acknowledged).toBeGreaterThan(0);
});

test('a certificate of the user is taken over without a restart', settings, async () => {
  const { before, after } = await bringCertificate(stage());
  expect(after.filter((one) => before.includes(one))).toEqual([]);
});

test(
  'a certificate for another name is refused, and the servers keep theirs',
  settings,
  async () => {
    const wrong = certificateFor('elsewhere.shop.svc');
    const before = await allShown(stage());
    await place.putSecret(cluster, 'wrong', wrong);
    await place.edit(cluster, { tls: { clients: { secretName: 'wrong' } } });
    const isRefused = async () =>
      (await place.condition(cluster, 'Degraded')).startsWith('True CertificateUnfit');
    await place.tickUntil(ours, cluster, 'a refusal', isRefused);
    expect(await place.condition(cluster, 'Degraded')).toContain(
      'spec.tls.clients names, has a certificate that is not for nats.shop.svc',
    );
    expect(await allShown(stage())).toEqual(before);
  },
);
