// Reads a snapshot of etcd (`etcdctl snapshot save`, or the db file of a stopped member) as it lies
// there: the newest revision of each key that is not deleted. From the last revision to the first,
// the first record of a key is its newest; memory does not grow with the file.
import { setImmediate } from 'node:timers/promises';
import { Failure } from '../../errors.ts';
import type { EtcdEntries } from '../entry.ts';
import { reasonOf } from '../errors.ts';
import { type Bytes, bytesOfBuffer, bytesOfFile } from './bytes.ts';
import { Damage, failureOf } from './damage.ts';
import { checkDigest, DIGEST_BYTES } from './digest.ts';
import { KvHash } from './kv-hash.ts';
import { readMeta } from './meta.ts';
import { Newest } from './newest.ts';
import type { Page, PageAt } from './page.ts';
import { compareMain, mainOf, type Revision, revisionAt } from './record.ts';
import { Tree } from './tree.ts';

export interface SnapshotOptions {
  /** In messages, where that is not the path. */
  readonly name?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Reports progress over all bytes of the file as its pages are read; before that it may be read
   * for its hash.
   */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
  /** Whether the hash of all keys is wanted, which costs about as much as all the rest. */
  readonly hasKvHash?: boolean;
  /** Whether the hash at its end need not be held against its bytes: whoever wrote them has. */
  readonly isDigestKnown?: boolean;
}

export interface SnapshotFacts {
  readonly sizeBytes: number;
  /** False for a db file, which has none at its end. */
  readonly hasDigest: boolean;
  /** 0 when nothing was ever written. Known with the first entries. */
  revision: bigint;
  /** Up to it etcd has forgotten, or is about to; 0 when it never was. Known as soon. */
  compactRevision: bigint;
  /** Whether etcd asks for logins on it. Known as soon. */
  asksLogins: boolean;
  /** As a member tells it for this revision and compaction, where it was wanted. */
  kvHash: number | undefined;
  /** Revisions, deletes among them. */
  records: number;
  /** Different keys, deleted ones among them. */
  keys: number;
}

/** Signals, timers and other requests get their turn this often. */
const TURN_BYTES = 1024 * 1024;

export class Snapshot {
  readonly facts: SnapshotFacts;
  readonly #name: string;
  readonly #bytes: Bytes;
  readonly #options: SnapshotOptions;

  constructor(name: string, bytes: Bytes, options: SnapshotOptions) {
    this.#name = name;
    this.#bytes = bytes;
    this.#options = options;
    // etcd tells by the same remainder whether a hash was appended.
    const hasDigest = bytes.sizeBytes % 512 === DIGEST_BYTES;
    this.facts = {
      sizeBytes: bytes.sizeBytes,
      hasDigest,
      revision: 0n,
      compactRevision: 0n,
      asksLogins: false,
      kvHash: undefined,
      records: 0,
      keys: 0,
    };
  }

  /** Once; throws SNAPSHOT_DAMAGED before it ends when anything in the file contradicts itself. */
  async *entries(): EtcdEntries {
    try {
      const pages = readMeta(this.#bytes);
      const { hasDigest, sizeBytes } = this.facts;
      if (sizeBytes % pages.pageBytes !== (hasDigest ? DIGEST_BYTES : 0)) {
        const problem = `${sizeBytes} bytes are neither whole pages nor these and a hash`;
        throw new Damage(pages.pageCount * pages.pageBytes, problem);
      }
      const { isDigestKnown = false, signal } = this.#options;
      if (hasDigest && !isDigestKnown) await checkDigest(this.#bytes, sizeBytes, signal);
      const tree = new Tree(this.#bytes, pages);
      const buckets = tree.buckets();
      const root = buckets.get('key');
      if (root === undefined) throw new Damage(0, 'it is a bbolt file, but not one of etcd');
      const meta = buckets.get('meta');
      const finished = compactionIn(tree, meta, 'finishedCompactRev');
      const compacted = later(finished, compactionIn(tree, meta, 'scheduledCompactRev'));
      this.facts.compactRevision = compacted === undefined ? 0n : mainOf(compacted);
      this.facts.asksLogins = asksLogins(tree, buckets.get('auth'));
      const hash =
        this.#options.hasKvHash === true ? new KvHash(this.#bytes, compacted) : undefined;
      const newest = new Newest(this.#bytes, finished, hash);
      yield* this.#newest(newest, tree.leaves(root));
      this.facts.kvHash = hash?.value();
      this.#assertUnchanged();
    } catch (error) {
      this.#assertUnchanged();
      throw failureOf(error, this.#name);
    } finally {
      this.#bytes.close();
    }
  }

  async *#newest(newest: Newest, leaves: Iterable<Page>): EtcdEntries {
    let doneBytes = 0;
    let turns = 0;
    for (const page of leaves) {
      const batch = newest.entriesIn(page);
      if (turns === 0) Object.assign(this.facts, newest.facts());
      if (batch.length > 0) yield batch;
      doneBytes += page.sizeBytes;
      if (doneBytes < turns * TURN_BYTES) continue;
      turns += 1;
      await this.#turn(doneBytes);
    }
    Object.assign(this.facts, newest.facts());
  }

  async #turn(doneBytes: number): Promise<void> {
    const { signal, onProgress } = this.#options;
    await setImmediate();
    signal?.throwIfAborted();
    onProgress?.(doneBytes, this.facts.sizeBytes);
  }

  #assertUnchanged(): void {
    const why = this.#bytes.changed();
    if (why === undefined) return;
    const message = `${this.#name} cannot be counted: ${why}. Read a snapshot of it instead.`;
    throw new Failure('SNAPSHOT_CHANGING', message, { object: this.#name });
  }
}

export function openSnapshot(path: string, options: SnapshotOptions = {}): Snapshot {
  const { name = path } = options;
  try {
    return new Snapshot(name, bytesOfFile(path), options);
  } catch (cause) {
    const message = `${name} cannot be opened (${reasonOf(cause)}). Name a snapshot of etcd.`;
    throw new Failure('SNAPSHOT_DAMAGED', message, { object: name, cause });
  }
}

export const snapshotIn = (buffer: Buffer, options: SnapshotOptions = {}): Snapshot =>
  new Snapshot('the snapshot', bytesOfBuffer(buffer), options);

/**
 * When it is finished, etcd has left one record of each key up to this revision; undefined when
 * there never was one.
 */
function compactionIn(
  tree: Tree,
  meta: PageAt | undefined,
  key: 'finishedCompactRev' | 'scheduledCompactRev',
): Revision | undefined {
  const value = meta === undefined ? undefined : tree.value(meta, key);
  return value === undefined ? undefined : revisionAt(value, 0, value.length);
}

function asksLogins(tree: Tree, auth: PageAt | undefined): boolean {
  return auth !== undefined && tree.value(auth, 'authEnabled')?.[0] === 1;
}

function later(one: Revision | undefined, other: Revision | undefined): Revision | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return compareMain(one, other) < 0 ? other : one;
}
