// Servers of nats-server 2.1.9 as processes, with TLS for clients, configured as the NATS operator
// did it.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import type { Part, PartSpec } from '../../knative/try/local/process/part.ts';
import { askMonitor } from '../../shared/nats/monitor.ts';
import { configText } from './legacy-nats.ts';

/** Its default of half a second cuts off fifty handshakes at once on a busy machine. */
const HANDSHAKE_SECONDS = 5;

export interface OldNatsServers {
  /** Their files are there, below it. */
  readonly dir: string;
  readonly servers: readonly { readonly name: string; readonly ip: string }[];
  readonly certPem: string;
  readonly keyPem: string;
  /** With it routes have TLS too. */
  readonly caPem?: string;
  readonly config: object;
  readonly add: (spec: PartSpec) => Promise<Part>;
}

/** Resolves with them by name when all are ready. */
export async function startOldNats(old: OldNatsServers): Promise<Map<string, Part>> {
  const dir = join(old.dir, 'legacy-nats');
  await mkdir(dir);
  const [cert, key, ca] = ['tls.crt', 'tls.key', 'ca.crt'].map((file) => join(dir, file));
  const { certPem, keyPem, caPem } = old;
  const files = { 'tls.crt': certPem, 'tls.key': keyPem, 'ca.crt': caPem ?? '' };
  for (const [file, text] of Object.entries(files)) await writeFile(join(dir, file), text);
  const tls = { cert_file: cert, key_file: key, timeout: HANDSHAKE_SECONDS };
  const routes = old.servers.map(({ ip }) => `nats://${ip}:6222`);
  const secret = caPem === undefined ? {} : { tls: { ...tls, ca_file: ca } };
  const command = await resolvePart('nats-server-2-1');
  const started = old.servers.map(async ({ name, ip }) => {
    const cluster = { host: ip, port: 6222, routes, ...secret };
    const path = join(dir, `${name}.conf`);
    await writeFile(path, configText({ ...old.config, host: ip, cluster, tls }));
    const url = `http://${ip}:8222`;
    const ready = async (signal: AbortSignal) =>
      (await askMonitor(url, { timeoutMs: 2_000, signal })).asksTls;
    const env = { SERVER_NAME: name };
    const part = await old.add({ name, command, args: ['-c', path], env, url, ready });
    return [name, part] as const;
  });
  return new Map(await Promise.all(started));
}
