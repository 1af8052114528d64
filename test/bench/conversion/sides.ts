// The two webhooks as processes: our bundle as it ships, and the peer, which is told its
// certificate.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildFolder } from '../../../knative/tools/build/build.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { systemClock } from '../../../shared/clock.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import { until } from '../../builders/versioned-kind.ts';
import { webhookOf } from '../../../knative/try/local/timeline/steps.ts';
import { buildGoPeer } from '../go-peer.ts';
import { endServer, outDir } from '../handlers/servers.ts';
import type { ClientConfig, ConversionPlace } from './place.ts';

const FOLDER = resolve(import.meta.dirname, '../../../functions/conversion');
const DAY_MS = 86_400_000;

export interface Webhook {
  readonly pid: number;
  /** Without TLS. */
  readonly port: number;
  readonly clientConfig: ClientConfig;
  /** How many reviews it has answered. */
  reviews(): Promise<number>;
  end(): Promise<void>;
}

export async function startOurs({ rig }: ConversionPlace): Promise<Webhook> {
  const { dir } = await buildFolder(FOLDER, join(outDir, 'conversion'));
  const port = await freePort();
  const env = {
    ...(await rig.environment()),
    PORT: String(port),
    LOG_LEVEL: 'warn',
    CONCURRENCY_LIMIT: '4',
    NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=320',
  };
  const child = spawn(process.execPath, [join(dir, 'index.js')], { env, stdio: 'inherit' });
  await rig.whenConverting();
  const [definition] = await rig.definitions();
  if (definition === undefined) throw new Error('There are no definitions.');
  const { service, caBundle } = webhookOf(definition);
  const reviews = async (): Promise<number> => {
    const text = await textAt(port, '/metrics');
    const line = /^ballast_route_requests_total\{[^}]*outcome="done"[^}]*\} (\d+)$/m.exec(text);
    return Number(line?.[1] ?? 0);
  };
  return started(child, port, { service, caBundle, url: null }, reviews);
}

export async function startPeer(): Promise<Webhook> {
  const binary = await buildGoPeer('controller-runtime');
  const [port, tls] = [await freePort(), await freePort()];
  const dir = await mkdtemp(join(tmpdir(), 'ballast-webhook-'));
  const nowMs = systemClock.nowMs();
  const validity = { fromMs: nowMs - DAY_MS, toMs: nowMs + DAY_MS };
  const authority = makeAuthority('bench', validity);
  const own = issue(authority, { commonName: 'localhost', hosts: ['127.0.0.1'] }, validity);
  const [certificate, key] = [join(dir, 'tls.crt'), join(dir, 'tls.key')];
  await writeFile(certificate, own.certPem);
  await writeFile(key, own.keyPem);
  const args = [
    `--plain=127.0.0.1:${port}`,
    `--secure=127.0.0.1:${tls}`,
    `--certificate=${certificate}`,
    `--key=${key}`,
  ];
  // Failed handshakes are logged there.
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  child.once('exit', () => void rm(dir, { recursive: true }));
  const reviews = async (): Promise<number> => Number(await textAt(port, '/reviews'));
  const answers = (): Promise<boolean> =>
    reviews().then(
      () => true,
      () => false,
    );
  await until('the peer to answer', answers);
  const caBundle = Buffer.from(authority.certPem).toString('base64');
  const clientConfig = { service: null, url: `https://127.0.0.1:${tls}/convert`, caBundle };
  return started(child, port, clientConfig, reviews);
}

async function started(
  child: ChildProcess,
  port: number,
  clientConfig: ClientConfig,
  reviews: () => Promise<number>,
): Promise<Webhook> {
  if (child.pid === undefined) await once(child, 'spawn');
  const { pid = 0 } = child;
  return { pid, port, clientConfig, reviews, end: () => endServer(child) };
}

async function textAt(port: number, path: string): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).text();
}
