// The gateway of an old member asks its own member as a client, with the certificate that it serves
// with: where that does not do for clients nobody is answered, and another one is taken up without
// a restart.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { askLegacy } from '../../../shared/etcd/legacy.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import { EtcdCluster } from './cluster.ts';

const HOUR_MS = 3_600_000;
const nowMs = Date.now();
const validity = { fromMs: nowMs - HOUR_MS, toMs: nowMs + HOUR_MS };
const clients = makeAuthority('clients', validity);
const servers = makeAuthority('servers', validity);

let cluster: EtcdCluster;

afterEach(async () => {
  await cluster?.stop();
});

test.each(['etcd-3-3', 'etcd-3-4'] as const)(
  '%s with a certificate for servers alone',
  async (part) => {
    const client = issue(clients, {}, validity);
    cluster = await EtcdCluster.start(1, {
      part,
      hasOldFlags: true,
      tls: {
        caPem: clients.certPem,
        serverCaPem: servers.certPem,
        certificate: (name) => issue(servers, { hosts: [name] }, validity),
        client,
      },
      // That page is not the gateway's.
      isReady: async (member, signal) => (await member.clusterVersion({ signal })) !== undefined,
    });
    const { name, endpoint } = cluster.placeOf(0);
    const ca = `${clients.certPem}${servers.certPem}`;
    const tls = { ca, cert: client.certPem, key: client.keyPem };
    const ask = () => askLegacy(endpoint, tls, { timeoutMs: 3_000 });
    await expect(ask()).rejects.toThrow(/etcd answered 503/);
    const { certPem, keyPem } = issue(clients, { hosts: [endpoint.serverName ?? ''] }, validity);
    const dir = join(cluster.plane.dir, `${name}-tls`);
    await writeFile(join(dir, 'tls.key'), keyPem);
    await writeFile(join(dir, 'tls.crt'), certPem);
    const asked = () => ask().catch(String);
    await expect.poll(asked, { timeout: 30_000 }).toMatchObject({ isQuorate: true });
  },
);
