// `npm run measure -- takeover-nats`: three servers of 2.1.9 in pods, with logins and TLS, and 50
// clients that publish and subscribe all the time, are led over to a NatsCluster.
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import {
  CLIENTS_TLS_DIR,
  defineLegacyNats,
  LegacyNats,
  ROUTES_TLS_DIR,
} from '../../builders/legacy-nats.ts';
import { CoreTraffic } from '../../integration/nats-cluster/core-traffic.ts';
import { onCluster, type Print, Scene } from './scene.ts';

const NAMESPACE = 'mill';
const OLD = ['old-1', 'old-2', 'old-3'];
const INTO = 'next';
const CLIENTS = 50;
/** Rounds of all clients before and after. */
const SOME = 100;
const HOST = `old.${NAMESPACE}.svc`;
const LOGIN = { user: 'web', pass: 'known to both' };
const HOUR_MS = 3_600_000;

/** Half a second, the default, is too short for fifty handshakes at once on a busy machine. */
const HANDSHAKE_SECONDS = 5;

const validity = { fromMs: Date.now() - 60_000, toMs: Date.now() + HOUR_MS };

export const takeoverNats = (print: Print): Promise<void> =>
  onCluster(print, async (kube) => {
    const scene = new Scene(kube, NAMESPACE, print);
    const secrets = ['old', `${INTO}-users`, 'new-tls'].flatMap((name) => ['--secret', name]);
    await scene.prepare('nats-operator', [['nats-cluster'], ['takeover', ...secrets]]);
    const authority = makeAuthority('nats', validity);
    await putCertificates(scene, authority);
    await defineLegacyNats(kube);
    const old = new LegacyNats(kube, NAMESPACE, 'old');
    await leave(old);
    await scene.podsRun(OLD);
    const server = `${await scene.clusterIp('old')}:4222`;
    const tls = { ca: authority.certPem, servername: HOST };
    const traffic = await CoreTraffic.start({ server, ...LOGIN, tls, clients: CLIENTS });
    try {
      await traffic.goesOn(SOME);
      const given = { secretName: 'new-tls' };
      await old.takeOver('over', { tls: { clients: given, routes: given } }, INTO);
      await scene.carryOut('over');
      await traffic.goesOn(SOME);
      print(JSON.stringify(await traffic.report()));
    } finally {
      await traffic.close();
    }
  });

/** As the operator wrote them. */
async function leave(old: LegacyNats): Promise<void> {
  const tlsIn = (dir: string, name: string) => ({
    cert_file: `${dir}/${name}.pem`,
    key_file: `${dir}/${name}-key.pem`,
    ca_file: `${dir}/ca.pem`,
    timeout: HANDSHAKE_SECONDS,
  });
  const routes = OLD.map((name) => `nats://${name}.old-mgmt.${NAMESPACE}.svc:6222`);
  const config = {
    cluster: { port: 6222, routes, tls: tlsIn(ROUTES_TLS_DIR, 'route') },
    authorization: { users: [{ username: LOGIN.user, password: LOGIN.pass }] },
    tls: tlsIn(CLIENTS_TLS_DIR, 'server'),
  };
  const tls = { serverSecret: 'old-server-tls', routesSecret: 'old-routes-tls' };
  await old.create(
    OLD.map((name) => ({ name })),
    config,
    { tls },
  );
}

async function putCertificates(
  { kube }: Scene,
  authority: ReturnType<typeof makeAuthority>,
): Promise<void> {
  const of = (hosts: readonly string[]) => issue(authority, { hosts: [...hosts] }, validity);
  const oldHosts = OLD.map((name) => `${name}.old-mgmt.${NAMESPACE}.svc`);
  const servers = of([HOST, ...oldHosts]);
  const next = of([HOST, `${INTO}.${NAMESPACE}.svc`, `*.${INTO}-headless.${NAMESPACE}.svc`]);
  const ca = authority.certPem;
  const data = {
    'old-server-tls': {
      'server.pem': servers.certPem,
      'server-key.pem': servers.keyPem,
      'ca.pem': ca,
    },
    'old-routes-tls': {
      'route.pem': servers.certPem,
      'route-key.pem': servers.keyPem,
      'ca.pem': ca,
    },
    'new-tls': { 'tls.crt': next.certPem, 'tls.key': next.keyPem, 'ca.crt': ca },
  };
  for (const [name, stringData] of Object.entries(data)) {
    const metadata = { namespace: NAMESPACE, name };
    await kube.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, stringData });
  }
}
