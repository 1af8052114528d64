// Shared by these tests: a real etcd, written to through its gateway, and etcd's own tools as
// witnesses of what it holds.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { EtcdEntries } from '../../../shared/etcd/entry.ts';

const run = promisify(execFile);
const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');

export class EtcdWriter {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Resolves with the revision of the write. */
  async put(key: string, value: string | Buffer): Promise<string> {
    return this.#post('/v3/kv/put', { key: base64(key), value: base64(value) });
  }

  /** Values of 900 kB, under keys from one number up to, and without, another. */
  async putLarge(from: number, to: number): Promise<void> {
    for (let key = from; key < to; key += 1) {
      await this.put(`/registry/k/${key}`, Buffer.alloc(900_000, key));
    }
  }

  async delete(key: string): Promise<string> {
    return this.#post('/v3/kv/deleterange', { key: base64(key) });
  }

  /** Several keys under one revision. */
  async putTogether(values: Readonly<Record<string, string>>): Promise<string> {
    const success = Object.entries(values).map(([key, value]) => ({
      request_put: { key: base64(key), value: base64(value) },
    }));
    return this.#post('/v3/kv/txn', { success });
  }

  async compact(revision: string): Promise<void> {
    await this.#post('/v3/kv/compaction', { revision, physical: true });
  }

  async defragment(): Promise<void> {
    await this.#post('/v3/maintenance/defragment', {});
  }

  async #post(path: string, body: object): Promise<string> {
    const answer = await fetch(`${this.#url}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${text}`);
    const { header } = JSON.parse(text) as { header?: { revision?: string } };
    return header?.revision ?? '';
  }
}

/** Each key with a hash of its value. */
export type Picture = Readonly<Record<string, string>>;

const sha256 = (value: Uint8Array): string => createHash('sha256').update(value).digest('hex');

export async function pictureOf(entries: EtcdEntries): Promise<Picture> {
  const picture: Record<string, string> = {};
  for await (const batch of entries) {
    for (const entry of batch) {
      if (entry.key in picture) throw new Error(`${entry.key} came twice`);
      picture[entry.key] = sha256(entry.whole());
    }
  }
  return picture;
}

interface Witnessed {
  readonly header: { readonly revision: number };
  readonly kvs?: readonly { readonly key: string; readonly value?: string }[];
}

/** The same, as etcdctl tells it. */
export async function witnessed(url: string): Promise<{ revision: string; picture: Picture }> {
  const etcdctl = await resolvePart('etcdctl');
  const args = ['--endpoints', url, 'get', '', '--prefix', '-w', 'json'];
  const { stdout } = await run(etcdctl, args, { maxBuffer: 64 << 20, env: {} });
  const { header, kvs = [] } = JSON.parse(stdout) as Witnessed;
  const entries = kvs.map(({ key, value = '' }) => [
    Buffer.from(key, 'base64').toString('utf8'),
    sha256(Buffer.from(value, 'base64')),
  ]);
  return { revision: `${header.revision}`, picture: Object.fromEntries(entries) as Picture };
}

export async function etcdctlSave(url: string, path: string): Promise<void> {
  const etcdctl = await resolvePart('etcdctl');
  await run(etcdctl, ['--endpoints', url, 'snapshot', 'save', path], { env: {} });
}

export interface SnapshotStatus {
  readonly revision: number;
  readonly totalKey: number;
}

export async function etcdutlStatus(path: string): Promise<SnapshotStatus> {
  const etcdutl = await resolvePart('etcdutl');
  const { stdout } = await run(etcdutl, ['snapshot', 'status', path, '-w', 'json'], { env: {} });
  return JSON.parse(stdout) as SnapshotStatus;
}
