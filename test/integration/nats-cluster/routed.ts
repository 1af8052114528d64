// A NATS of three servers of 2.1.9 as a dead operator left it, with logins and TLS everywhere, and
// 50 clients that publish and subscribe all the time: a NatsCluster is routed with it, the Service
// leads over, and the old servers end one after the other. Whatever is lost, a client was away for.
import { randomInt } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { askMonitor } from '../../../shared/nats/monitor.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import { configText } from '../../builders/legacy-nats.ts';
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

async function startOld(dir: string, { name, ip }: (typeof OLD)[number]): Promise<Part> {
  const routes = OLD.map((one) => `nats://${one.ip}:6222`);
  const tls = { cert_file: join(dir, 'tls.crt'), key_file: join(dir, 'tls.key') };
  const section = { host: ip, port: 6222, routes, tls: { ...tls, ca_file: join(dir, 'ca.crt') } };
  const authorization = { users: [{ username: LOGIN.user, password: LOGIN.pass }] };
  const config = { host: ip, cluster: section, authorization, tls };
  const path = join(dir, `${name}.conf`);
  await writeFile(path, configText(config));
  const url = `http://${ip}:8222`;
  return place.plane.add({
    name,
    command: await resolvePart('nats-server-2-1'),
    args: ['-c', path],
    env: { SERVER_NAME: name },
    url,
    ready: async (signal) => (await askMonitor(url, { timeoutMs: 2_000, signal })).asksTls,
  });
}

beforeAll(async () => {
  const dir = join(place.plane.dir, 'legacy-nats');
  await mkdir(dir);
  await writeFile(join(dir, 'tls.crt'), certPem);
  await writeFile(join(dir, 'tls.key'), keyPem);
  await writeFile(join(dir, 'ca.crt'), authority.certPem);
  parts.push(...(await Promise.all(OLD.map((one) => startOld(dir, one)))));
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
