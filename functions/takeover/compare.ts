// Compares the keys of both clusters, some thousands in a look: which there are, and of each by
// which changes it came and is, and its lease. Values that the same change of the same history has
// written are the same; the snapshot's own hash has shown that no byte of it changed.
import type { Clock } from '../../shared/clock.ts';
import { Failure } from '../../shared/errors.ts';
import type { KeyHead } from '../../shared/etcd/admin/keys.ts';
import { printable } from '../../shared/function/printable.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { Access } from './access.ts';
import type { Door } from './door.ts';
import type { Comparison } from './state.ts';

/** A page has some hundred kilobytes. */
const KEYS_PER_PAGE = 2_000;
const KEYS_PER_LOOK = 20_000;
/** Then it is noted how far it came: a member may be slow. */
const COMPARES_FOR_MS = 5_000;
const ANSWERS_WITHIN_MS = 10_000;
const KEY_SHOWN_BYTES = 200;

export interface Both {
  readonly old: Access;
  readonly now: Access;
  /** That of the snapshot. */
  readonly revision: string;
  readonly before: { readonly keys: number; readonly after: string } | undefined;
}

interface Comparing {
  readonly door: Pick<Door, 'heads'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly signal: AbortSignal;
}

export async function compareKeys(
  { door: { heads }, clock, signal }: Comparing,
  { old, now, revision, before }: Both,
): Promise<Comparison | Reason> {
  let keys = before?.keys ?? 0;
  let after = Buffer.from(before?.after ?? '', 'base64');
  const options = { timeoutMs: ANSWERS_WITHIN_MS, signal };
  const last = keys + KEYS_PER_LOOK;
  const endsAtMs = clock.nowMs() + COMPARES_FOR_MS;
  try {
    while (keys < last && clock.nowMs() < endsAtMs) {
      const page = { from: nextOf(after), limit: KEYS_PER_PAGE };
      const [was, is] = await Promise.all([
        heads(old, { ...page, revision }, options),
        heads(now, page, options),
      ]);
      const differs = difference(was, is);
      if (differs !== undefined) return { ...told(keys, after), isWhole: false, differs };
      keys += was.length;
      after = Buffer.from(was.at(-1)?.key ?? after);
      if (was.length < KEYS_PER_PAGE) return { ...told(keys, after), isWhole: true };
    }
    return { ...told(keys, after), isWhole: false };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    return { reason: 'NotCompared', message: `The keys could not be read: ${error.message}` };
  }
}

const told = (keys: number, after: Buffer) => ({ keys, after: after.toString('base64') });

/** The first key that comes behind it. */
const nextOf = (key: Buffer): Buffer =>
  key.length === 0 ? key : Buffer.concat([key, Buffer.of(0)]);

function difference(old: readonly KeyHead[], now: readonly KeyHead[]): string | undefined {
  for (let at = 0; at < Math.max(old.length, now.length); at += 1) {
    const [was, is] = [old[at], now[at]];
    if (was !== undefined && is !== undefined && textOf(was) === textOf(is)) continue;
    const order = was === undefined ? 1 : is === undefined ? -1 : was.key.compare(is.key);
    if (order < 0) return `key ${shown(was)} is not in the new cluster`;
    if (order > 0) return `key ${shown(is)} is in the new cluster alone`;
    return `key ${shown(was)} is ${numbers(was)} in the old cluster and ${numbers(is)} in the new`;
  }
  return undefined;
}

const textOf = (head: KeyHead): string => `${head.key.toString('base64')} ${numbers(head)}`;

const numbers = (head: KeyHead | undefined): string =>
  head === undefined
    ? ''
    : `of revision ${head.createRevision}/${head.modRevision} (version ${head.version}, ` +
      `lease ${head.lease})`;

const shown = (head: KeyHead | undefined): string =>
  printable(JSON.stringify(head?.key.subarray(0, KEY_SHOWN_BYTES).toString('utf8') ?? ''));
