// A NATS of three servers of 2.1.9 as a dead operator left it, with logins and TLS everywhere, and
// 50 clients that publish and subscribe all the time: a NatsCluster is routed with it, the Service
// leads over, and the old servers end one after the other. Whatever is lost, a client was away for.
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Part } from '../../../knative/try/local/process/part.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import { startOldNats } from '../../builders/old-nats-servers.ts';
import { until } from '../../builders/versioned-kind.ts';
import { CoreTraffic } from './core-traffic.ts';
import { SCENARIO_MS } from './scene.ts';
import { ServiceHere } from './service-here.ts';
import { place } from './shared-place.ts';

const NAMESPACE = 'routed';
const cluster = { namespace: NAMESPACE, name: 'beside' };
const HOST = `old.${NAMESPACE}.svc`;
const NETWORK = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
const OLD = [1, 2, 3].map((at) => ({ name: `legacy-${at}`, ip: `${NETWORK}.${at}` }));
const LOGIN = { user: 'web', pass: 'known to both' };
const CLIENTS = 50;
/** Messages of each while nothing is done, so that two who do not hear each other are noticed. */
const SOME = 20;

const validity = { fromMs: Date.now() - 60_000, toMs: Date.now() + 3_600_000 };
const authority = makeAuthority('nats', validity);
const ips = OLD.map(({ ip }) => ip);
const hosts = [HOST, ...ips, `beside.${NAMESPACE}.svc`, `*.beside-headless.${NAMESPACE}.svc`];
const { certPem, keyPem } = issue(authority, { hosts }, validity);

const parts: Part[] = [];
let ours: RunningFunction;
let service: ServiceHere;
let traffic: CoreTraffic;

beforeAll(async () => {
  const old = await startOldNats({
    dir: place.plane.dir,
    servers: OLD,
    certPem,
    keyPem,
    caPem: authority.certPem,
    config: { authorization: { users: [{ username: LOGIN.user, password: LOGIN.pass }] } },
    add: (spec) => place.plane.add(spec),
  });
  parts.push(...old.values());
  service = await ServiceHere.start(OLD.map(({ ip }) => `${ip}:4222`));
  await place.namespace(NAMESPACE);
  await place.putSecret(cluster, 'beside-users', { [LOGIN.user]: LOGIN.pass });
  const files = { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': authority.certPem };
  await place.putSecret(cluster, 'new-tls', files);
  ours = await place.startFunction();
  const passwordSecret = { name: 'beside-users', key: LOGIN.user };
  await place.create(cluster, {
    accounts: [{ name: '$G', users: [{ name: LOGIN.user, passwordSecret }] }],
    tls: { clients: { secretName: 'new-tls' }, routes: { secretName: 'new-tls' } },
  });
  await place.wakeUntilReady(ours, cluster);
}, SCENARIO_MS);

afterAll(async () => {
  await traffic?.close();
  await service?.stop();
  await Promise.all(parts.map((one) => one.stop()));
  await place.remove(cluster);
}, SCENARIO_MS);

/** To each other old one, and to each new one. */
const routesAt = async (ip: string): Promise<number> => {
  const routes: unknown = await (await fetch(`http://${ip}:8222/routez`)).json();
  return Number(Object(routes).num_routes);
};

test(
  'clients of 2.1.9 come over, and none that is connected is unheard',
  { timeout: SCENARIO_MS },
  async () => {
    const tls = { ca: authority.certPem, servername: HOST };
    traffic = await CoreTraffic.start({ server: service.address, ...LOGIN, tls, clients: CLIENTS });
    await place.edit(cluster, { extraRoutes: OLD.map(({ ip }) => `${ip}:6222`) });
    await place.wakeUntilReady(ours, cluster);
    await until('routes of both', async () => {
      const counts = await Promise.all(OLD.map(({ ip }) => routesAt(ip)));
      return counts.every((count) => count === OLD.length - 1 + 3);
    });
    service.leadTo(await place.addresses(cluster));
    for (const part of parts) {
      await part.stop();
      await traffic.goesOn(SOME);
    }
    await place.edit(cluster, { extraRoutes: null });
    await place.wakeUntilReady(ours, cluster);
    await traffic.goesOn(SOME);
    const report = await traffic.report();
    expect(report).toMatchObject({ unexplained: 0 });
    expect(report.reconnects).toBeGreaterThanOrEqual(CLIENTS);
    expect(report.lost).toBeLessThan(report.sent / 10);
  },
);
