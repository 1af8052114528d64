// All that a plane's etcd holds, and the way back to it. It goes past the API server, which has no
// word for "as it was": there definitions, their objects and what a finalizer holds go one by one.
import { join } from 'node:path';
import { systemClock } from '../../shared/clock.ts';

/** Values by key, both in base64. */
export type EtcdState = Readonly<Record<string, string>>;

/** The API server writes them when it likes to, and nobody else does. */
const NOTES = [
  '/registry/flowschemas/',
  '/registry/leases/kube-system/apiserver-',
  '/registry/masterleases/',
  '/registry/prioritylevelconfigurations/',
];
/** They come and go some time after definitions: until then the API server serves what it did. */
const SERVED = '/registry/apiregistration.k8s.io/';

/** etcd takes no more in one transaction. */
const OPERATIONS_MAX = 128;
/** It took 0.2 s at most; on a loaded machine ten times that. */
const WITHIN_MS = 20_000;
const ASK_EVERY_MS = 20;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const plain = (key: string): string => Buffer.from(key, 'base64').toString();

/** Where a lane keeps how its plane was at first. */
export const stateFile = (dir: string): string => join(dir, 'state-at-first.json');

export async function readState(etcdUrl: string): Promise<EtcdState> {
  const all = { key: base64('/registry/'), range_end: base64('/registry0') };
  const { kvs = [] } = (await ask(etcdUrl, 'range', all)) as {
    readonly kvs?: readonly { readonly key: string; readonly value: string }[];
  };
  const counted = kvs.filter(({ key }) => !NOTES.some((note) => plain(key).startsWith(note)));
  return Object.fromEntries(counted.map(({ key, value }) => [key, value]));
}

/** Returns when the API server has noticed. Fails when somebody goes on to write, and names it. */
export async function putBack(etcdUrl: string, to: EtcdState, withinMs = WITHIN_MS): Promise<void> {
  const endsAtMs = systemClock.nowMs() + withinMs;
  for (;;) {
    const is = await readState(etcdUrl);
    const keys = Object.keys({ ...is, ...to });
    const others = keys.filter((key) => is[key] !== to[key]);
    if (others.length === 0) return;
    if (systemClock.nowMs() > endsAtMs) {
      throw new Error(`the plane does not become as it was: ${others.map(plain).join(', ')}`);
    }
    const ours = others.filter((key) => !plain(key).startsWith(SERVED));
    for (let at = 0; at < ours.length; at += OPERATIONS_MAX) {
      const operations = ours.slice(at, at + OPERATIONS_MAX).map((key) => write(key, to[key]));
      await ask(etcdUrl, 'txn', { success: operations });
    }
    await systemClock.sleep(ASK_EVERY_MS);
  }
}

const write = (key: string, value: string | undefined): object =>
  value === undefined ? { request_delete_range: { key } } : { request_put: { key, value } };

async function ask(etcdUrl: string, what: string, body: object): Promise<unknown> {
  const answer = await fetch(`${etcdUrl}/v3/kv/${what}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
