// nats-server with JetStream on loopback, with the accounts that a feed is to have: one that holds
// streams, which the function writes, and one for readers. Passwords are made for each server.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { feedAccounts, type Reader } from '../../../../shared/nats/accounts.ts';
import { ANY_FEED } from '../../../../shared/nats/rights.ts';
import type { PartSpec } from '../process/part.ts';
import { answers } from './probe.ts';

export interface NatsOptions {
  readonly binary: string;
  readonly dir: string;
  readonly port: number;
  readonly monitorPort: number;
}

export interface NatsWithAccountsOptions extends NatsOptions {
  /** Readers beside `locate` and `reader`, who read everything. */
  readonly readers?: readonly Omit<Reader, 'password'>[] | undefined;
  /** Further settings of the configuration. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** The functions of these names, and whoever looks at a running plane. */
const READERS = ['console', 'locate', 'reader'].map((name) => ({
  name,
  feeds: [ANY_FEED],
  scope: 'cluster' as const,
}));

/** Anybody on this machine may do anything. */
export function natsServerSpec({ binary, dir, port, monitorPort }: NatsOptions): PartSpec {
  return {
    name: 'nats-server',
    command: binary,
    args: [
      '--addr=127.0.0.1',
      `--port=${port}`,
      `--http_port=${monitorPort}`,
      '--jetstream',
      `--store_dir=${join(dir, 'nats')}`,
    ],
    env: {},
    url: `nats://127.0.0.1:${port}`,
    monitorUrl: `http://127.0.0.1:${monitorPort}`,
    ready: (signal) => answers(`http://127.0.0.1:${monitorPort}/healthz`, signal),
  };
}

/**
 * Its url is that of `admin`, who may do anything in the account of the streams; `urls` has one for
 * `metadata` and for each reader.
 */
export async function natsWithAccounts(options: NatsWithAccountsOptions): Promise<PartSpec> {
  const { dir, port, readers = [], settings = {} } = options;
  const passwords = new Map<string, string>();
  const newLogin = (name: string) => {
    const password = randomBytes(16).toString('hex');
    passwords.set(name, password);
    return { name, password };
  };
  const accounts = feedAccounts({
    feeds: [ANY_FEED],
    admin: newLogin('admin'),
    writer: newLogin('metadata'),
    readers: [...READERS, ...readers].map((reader) => ({ ...reader, ...newLogin(reader.name) })),
  });
  const config = join(dir, 'nats.conf');
  await writeFile(config, JSON.stringify({ ...settings, accounts }), { mode: 0o600 });
  const spec = natsServerSpec(options);
  const urls = Object.fromEntries(
    [...passwords].map(([name, password]) => [
      name,
      `nats://${name}:${password}@127.0.0.1:${port}`,
    ]),
  );
  return { ...spec, args: [...spec.args, `--config=${config}`], url: urls['admin'] ?? '', urls };
}
