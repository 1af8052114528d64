// All that a plane's etcd holds, and the way back to it. It goes past the API server, which has no
// word for "as it was": there definitions, their objects and what a finalizer holds go one by one.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../shared/clock.ts';

/** Values by key, both in base64. */
export type EtcdState = Readonly<Record<string, string>>;

/** The API server writes them when it likes to, and nobody else does. */
const NOTES = ['/registry/leases/kube-system/apiserver-', '/registry/masterleases/'];
/** They come and go some time after definitions: until then the API server serves what it did. */
const SERVED = '/registry/apiregistration.k8s.io/';

/** etcd takes no more in one transaction. */
const OPERATIONS_MAX = 128;
/** It took 0.2 s at most; on a loaded machine ten times that. */
const WITHIN_MS = 20_000;
const ASK_EVERY_MS = 20;
/** All that follows from a definition comes within half of it. */
const SETTLED_MS = 500;

interface KeyValue {
  readonly key: string;
  readonly value: string;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const plain = (key: string): string => Buffer.from(key, 'base64').toString();

/** Where a lane keeps how its plane was at first. */
export const stateFile = (dir: string): string => join(dir, 'state-at-first.json');

export async function readState(etcdUrl: string): Promise<EtcdState> {
  return Object.fromEntries((await range(etcdUrl)).map(({ key, value }) => [key, value]));
}

/** Once nobody writes any more: after a definition the API server writes its status. */
export async function settledState(etcdUrl: string): Promise<EtcdState> {
  for (let before = await readState(etcdUrl); ;) {
    await systemClock.sleep(SETTLED_MS);
    const now = await readState(etcdUrl);
    if (isDeepStrictEqual(now, before)) return now;
    before = now;
  }
}

/** Returns when the API server has noticed. Fails when somebody goes on to write, and names it. */
export async function putBack(etcdUrl: string, to: EtcdState, withinMs = WITHIN_MS): Promise<void> {
  const endsAtMs = systemClock.nowMs() + withinMs;
  // New values are deleted without being read: one may be a hundred megabytes.
  const keys = (await range(etcdUrl, { keys_only: true })).map(({ key }) => key);
  await write(
    etcdUrl,
    keys.filter((key) => to[key] === undefined),
    to,
  );
  for (;;) {
    const is = await readState(etcdUrl);
    const others = Object.keys({ ...is, ...to }).filter((key) => isOther(key, is, to));
    if (others.length === 0) return;
    if (systemClock.nowMs() > endsAtMs) {
      throw new Error(`the plane does not become as it was: ${others.map(plain).join(', ')}`);
    }
    await write(etcdUrl, others, to);
    await systemClock.sleep(ASK_EVERY_MS);
  }
}

/** An APIService is made anew when its version comes back, and is the same all the same. */
function isOther(key: string, is: EtcdState, to: EtcdState): boolean {
  const isThere = is[key] !== undefined && to[key] !== undefined;
  return isThere && plain(key).startsWith(SERVED) ? false : is[key] !== to[key];
}

async function write(etcdUrl: string, keys: readonly string[], to: EtcdState): Promise<void> {
  const operations = keys
    .filter((key) => !plain(key).startsWith(SERVED))
    .map((key) => {
      const value = to[key];
      if (value === undefined) return { request_delete_range: { key } };
      return { request_put: { key, value } };
    });
  for (let at = 0; at < operations.length; at += OPERATIONS_MAX) {
    await ask(etcdUrl, 'txn', { success: operations.slice(at, at + OPERATIONS_MAX) });
  }
}

async function range(etcdUrl: string, more: object = {}): Promise<readonly KeyValue[]> {
  const all = { key: base64('/registry/'), range_end: base64('/registry0'), ...more };
  const { kvs = [] } = (await ask(etcdUrl, 'range', all)) as { kvs?: readonly KeyValue[] };
  return kvs.filter(({ key }) => !NOTES.some((note) => plain(key).startsWith(note)));
}

async function ask(etcdUrl: string, method: string, body: object): Promise<unknown> {
  const answer = await fetch(`${etcdUrl}/v3/kv/${method}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
