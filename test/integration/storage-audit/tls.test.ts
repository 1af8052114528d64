// An etcd that asks for client certificates, as every production etcd does: who has one reads and
// saves, who has none or a foreign one is told what is wrong.
import { copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { Authority } from '../../../knative/try/local/plane/authority.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { type EtcdClient, openEtcd } from '../../../shared/etcd/client.ts';
import { openSnapshot } from '../../../shared/etcd/snapshot/snapshot.ts';
import type { TlsFiles } from '../../../shared/etcd/tls.ts';
import { pictureOf } from './world.ts';

let plane: Plane;
let dir: string;
let url: string;
const opened: EtcdClient[] = [];

const file = (name: string): string => join(dir, name);
const tlsOf = (ca: string, name: string): TlsFiles => ({
  caPath: file(`${ca}.crt`),
  certPath: file(`${name}.crt`),
  keyPath: file(`${name}.key`),
});

function open(tls: TlsFiles | undefined, ...endpoints: readonly string[]): EtcdClient {
  const etcd = openEtcd({ endpoints: [...endpoints, url], tls });
  opened.push(etcd);
  return etcd;
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'audit-tls-'));
  const [ours, foreign] = [new Authority('ours'), new Authority('foreign')];
  await writeFile(file('ours.crt'), ours.certPem);
  await writeFile(file('foreign.crt'), foreign.certPem);
  for (const [name, ca] of [
    ['server', ours],
    ['client', ours],
    ['stranger', foreign],
  ] as const) {
    const { certPem, keyPem } = ca.issue({ commonName: name, hosts: ['127.0.0.1'] });
    await writeFile(file(`${name}.crt`), certPem);
    await writeFile(file(`${name}.key`), keyPem);
  }
  plane = await startPlane({ parts: [] });
  url = `https://127.0.0.1:${await freePort()}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const client = open(tlsOf('ours', 'client'));
  await plane.add({
    name: 'etcd',
    command: await resolvePart('etcd'),
    args: [
      `--data-dir=${file('data')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      `--cert-file=${file('server.crt')}`,
      `--key-file=${file('server.key')}`,
      `--trusted-ca-file=${file('ours.crt')}`,
      '--client-cert-auth',
      '--unsafe-no-fsync',
    ],
    env: {},
    url,
    ready: async () => (await client.revision()) !== '',
  });
});

afterAll(async () => {
  for (const etcd of opened) await etcd.close();
  await plane.stop();
  await rm(dir, { recursive: true, force: true });
});

test('with a client certificate it is read and saved, past an endpoint that is down', async () => {
  const etcd = open(tlsOf('ours', 'client'), `https://127.0.0.1:${await freePort()}`);
  const revision = await etcd.revision();
  expect(await pictureOf(etcd.entries([''], { revision }))).toEqual({});
  const { sizeBytes } = await etcd.save(file('saved.db'));
  expect((await stat(file('saved.db'))).size).toBe(sizeBytes);
  expect(await pictureOf(openSnapshot(file('saved.db')).entries())).toEqual({});
});

test.each([
  ['no certificate of ours', () => ({ caPath: file('ours.crt') })],
  ['a certificate that another CA signed', () => tlsOf('ours', 'stranger')],
  ['a CA that is not its own', () => tlsOf('foreign', 'client')],
])('with %s it cannot be reached, and the message says where to look', async (_, tls) => {
  await expect(open(tls()).revision()).rejects.toMatchObject({
    code: 'ETCD_UNAVAILABLE',
    message: expect.stringMatching(/cannot be reached \(.+\)\. See that it runs.*CA/),
  });
});

test('a certificate that is put right is used by the next request, without a restart', async () => {
  const etcd = open(tlsOf('ours', 'late'));
  await expect(etcd.revision()).rejects.toMatchObject({ code: 'ETCD_ACCESS_UNREADABLE' });
  await layOut('stranger', 'late');
  await expect(etcd.revision()).rejects.toMatchObject({ code: 'ETCD_UNAVAILABLE' });
  await layOut('client', 'late');
  await expect(etcd.revision()).resolves.toMatch(/^\d+$/);
});

async function layOut(from: string, to: string): Promise<void> {
  await copyFile(file(`${from}.crt`), file(`${to}.crt`));
  await copyFile(file(`${from}.key`), file(`${to}.key`));
}

test('a certificate that is not there is named', async () => {
  const missing = open({ caPath: file('absent.crt') });
  await expect(missing.revision()).rejects.toMatchObject({
    code: 'ETCD_ACCESS_UNREADABLE',
    object: file('absent.crt'),
  });
});
