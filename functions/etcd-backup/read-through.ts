// Reads a snapshot through before it counts as a backup: every page and record of it, and the hash
// of all keys, which the member is asked for as soon as the revision is known.
import type { EtcdMemberAdmin } from '../../shared/etcd/admin.ts';
import { EtcdFailure } from '../../shared/etcd/admin/failure.ts';
import type { EtcdHashKv } from '../../shared/etcd/admin/upkeep.ts';
import { openSnapshot, type SnapshotFacts } from '../../shared/etcd/snapshot/snapshot.ts';
import { Failure } from '../../shared/errors.ts';
import type { Checked, Confirmation } from './facts.ts';

export interface Witnesses {
  /** The member that sent it, then those that have the same keys. */
  readonly members: readonly EtcdMemberAdmin[];
  readonly version: string;
}

export interface ReadOptions {
  /** The snapshot, in messages. */
  readonly name: string;
  /** Its bytes were held against the hash at its end, or will be before it counts. */
  readonly isDigestKnown?: boolean;
  /** No member is asked for the hash of a larger one: it applies no write while it reckons that. */
  readonly confirmUpToBytes?: number | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (doneBytes: number, totalBytes: number) => void;
}

/** A member applies no write for a second or so then, where all of it is in memory. */
const CONFIRM_UP_TO_BYTES = 2 * 2 ** 30;

/** A member reads all that it has for it. */
const HASH_MS = 60_000;
const HASH_MS_PER_GIB = 60_000;

export async function readThrough(
  path: string,
  witnesses: Witnesses,
  options: ReadOptions,
): Promise<Checked> {
  const { name, signal } = options;
  const snapshot = openSnapshot(path, { ...options, hasKvHash: true });
  const { facts } = snapshot;
  let told: Promise<Told> | undefined;
  let keys = 0;
  for await (const batch of snapshot.entries()) {
    told ??= ask(witnesses, facts, options);
    keys += batch.length;
  }
  const revision = revisionOf(facts);
  const { compactRevision, kvHash: hashKv } = facts;
  if (hashKv === undefined) throw new Error('the snapshot was not hashed');
  const answer = await (told ?? ask(witnesses, facts, options));
  signal.throwIfAborted();
  const confirmation = compared(name, facts, hashKv, answer);
  return { revision, compactRevision, keys, hashKv, confirmation };
}

type Told = EtcdHashKv | { readonly unconfirmed: string };

/** A delete that was the newest record may be gone by the compaction. */
const revisionOf = ({ revision, compactRevision }: SnapshotFacts): bigint =>
  revision > compactRevision ? revision : compactRevision;

/** Never rejects: a backup is worth keeping when nobody is left to confirm it. */
async function ask(
  { members, version }: Witnesses,
  facts: SnapshotFacts,
  { signal, confirmUpToBytes = CONFIRM_UP_TO_BYTES }: ReadOptions,
): Promise<Told> {
  // Taken before anything is awaited: it does not change, and is read by its own revision.
  const revision = `${revisionOf(facts)}`;
  if (/^[0-2]\.|^3\.[0-4]\./.test(version)) {
    return { unconfirmed: `etcd ${version} is too old to be asked for its hash` };
  }
  if (facts.sizeBytes > confirmUpToBytes) {
    const limit = `${confirmUpToBytes} of spec.confirmUpTo (--confirm-up-to)`;
    const why = 'no member was asked, since it takes no writes while it reckons its hash';
    return { unconfirmed: `it has ${facts.sizeBytes} bytes, more than the ${limit}: ${why}` };
  }
  const timeoutMs = HASH_MS + Math.ceil((facts.sizeBytes / 2 ** 30) * HASH_MS_PER_GIB);
  let why = 'no member was asked';
  for (const member of members) {
    try {
      return await member.hashKv(revision, { timeoutMs, signal });
    } catch (error) {
      if (error instanceof EtcdFailure && error.reason === 'COMPACTED') {
        return { unconfirmed: `revision ${revision} was compacted before its hash could be asked` };
      }
      why = error instanceof Error ? error.message : String(error);
    }
  }
  return { unconfirmed: `no member told the hash of revision ${revision}: ${why}` };
}

function compared(name: string, facts: SnapshotFacts, hashKv: number, told: Told): Confirmation {
  if ('unconfirmed' in told) return { unconfirmed: told.unconfirmed.slice(0, UNCONFIRMED_MAX) };
  const { compactRevision, hash } = told;
  if (compactRevision !== `${facts.compactRevision}`) {
    const from = `from ${facts.compactRevision} to ${compactRevision}`;
    return { unconfirmed: `a compaction went ${from} before the hash could be asked` };
  }
  if (hash === hashKv) return { isHashConfirmed: true };
  const what = `${name} has the hash ${hashKv} at revision ${revisionOf(facts)}`;
  const message =
    `${what}, and the member says that it has ${hash}. Nothing was kept. Back up from ` +
    'another member, and see whether the members agree: etcdctl endpoint hashkv --cluster.';
  throw new Failure('BACKUP_DIFFERS', message, { object: name });
}

const UNCONFIRMED_MAX = 500;
