// A member that asks for client certificates is dialled by its address and known by its name, as a
// pod is.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Authority } from '../../../knative/try/local/plane/authority.ts';
import type { EtcdMemberAdmin } from '../../../shared/etcd/admin.ts';
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import type { EtcdTls } from '../../../shared/etcd/tls.ts';
import type { Identity } from '../../../shared/x509.ts';
import { EtcdCluster } from './cluster.ts';

let cluster: EtcdCluster;
let dir: string;
const [ours, foreign] = [new Authority('ours'), new Authority('foreign')];
const client = ours.issue({ commonName: 'operator' });

const tlsOf = (ca: Authority, { certPem, keyPem }: Identity): EtcdTls => ({
  ca: ca.certPem,
  cert: certPem,
  key: keyPem,
});

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-etcd-tls-'));
  const certificate = (name: string): Identity => ours.issue({ commonName: name, hosts: [name] });
  cluster = await EtcdCluster.start(1, { tls: { caPem: ours.certPem, certificate, client } });
});

afterAll(async () => {
  await cluster?.stop();
  await rm(dir, { recursive: true, force: true });
});

test('with a certificate of ours it answers, be that in texts or in files', async () => {
  await cluster.at(0).keys.put('probe', 'texts');
  const { certPem, keyPem } = client;
  const files = { 'ca.crt': ours.certPem, 'tls.crt': certPem, 'tls.key': keyPem };
  for (const [file, pem] of Object.entries(files)) await writeFile(join(dir, file), pem);
  const tls = {
    caPath: join(dir, 'ca.crt'),
    certPath: join(dir, 'tls.crt'),
    keyPath: join(dir, 'tls.key'),
  };
  const { found } = await cluster.at(0, { tls }).keys.get('probe');
  expect(found?.value.toString()).toBe('texts');
});

test.each<[string, EtcdTls]>([
  ['an authority that is not its own', tlsOf(foreign, client)],
  ['a certificate that another authority signed', tlsOf(ours, foreign.issue({ commonName: 'x' }))],
  ['no certificate', { ca: ours.certPem }],
])('with %s nothing is said to it', async (_, tls) => {
  const asked = cluster.at(0, { tls });
  await expect(asked.status()).rejects.toMatchObject({ code: 'ETCD_UNAVAILABLE' });
  await expect(asked.keys.put('probe', 'stranger')).rejects.toMatchObject({ name: 'EtcdFailure' });
  expect((await cluster.at(0).keys.get('probe')).found?.value.toString()).toBe('texts');
});

test.each<[string, string | undefined]>([
  ['no name, so that its address would have to stand in the certificate', undefined],
  ['the name of another pod', 'member-1.etcd.default.svc'],
])('by %s it is not taken for the member, and hears nothing', async (_, serverName) => {
  const { url } = cluster.placeOf(0).endpoint;
  const other = cluster.admin().at({ url, serverName });
  const stranger = { reason: 'UNREACHABLE', isInDoubt: false };
  await expect(other.status()).rejects.toMatchObject(stranger);
  await expect(other.keys.put('probe', 'other')).rejects.toMatchObject(stranger);
});

test('PEM that is none is told before anybody is called', async () => {
  const none = cluster.at(0, { tls: { ...tlsOf(ours, client), cert: 'none' } });
  await expect(none.status()).rejects.toMatchObject({ code: 'ETCD_ACCESS_UNREADABLE' });
  const other = ours.issue({ commonName: 'other' });
  const mixed = cluster.at(0, { tls: { ...tlsOf(ours, client), key: other.keyPem } });
  await expect(mixed.status()).rejects.toMatchObject({ code: 'ETCD_ACCESS_UNREADABLE' });
});

test('a gateway whose own certificate is none for clients says so, and did nothing', async () => {
  const certificate = (name: string): Identity =>
    foreign.issue({ commonName: name, hosts: [name] });
  const tls = {
    caPem: ours.certPem,
    serverCaPem: foreign.certPem,
    certificate,
    client,
  };
  const isReady = async (member: EtcdMemberAdmin, signal: AbortSignal): Promise<boolean> =>
    isEtcdFailure(await member.status({ signal }).catch((error: unknown) => error), 'NO_GATEWAY');
  const lame = await EtcdCluster.start(1, { tls, isReady });
  try {
    const alone = { code: 'ETCD_REFUSED', reason: 'NO_GATEWAY', isInDoubt: false };
    await expect(lame.at(0).keys.put('probe', 'x')).rejects.toMatchObject(alone);
    await expect(lame.at(0).status()).rejects.toMatchObject(alone);
  } finally {
    await lame.stop();
  }
});
