// One backup, from the choice of a member to the facts beside the object: the snapshot streams once
// through this machine, to its disk and to its target at the same time, and counts only when it
// was read through. In any other end nothing is left.
import { type Clock, systemClock } from '../../shared/clock.ts';
import { type EtcdAdminOptions, openEtcdAdmin } from '../../shared/etcd/admin.ts';
import { reasonOf } from '../../shared/etcd/errors.ts';
import { TrailedHash } from '../../shared/etcd/trailed-hash.ts';
import { Failure } from '../../shared/errors.ts';
import type { S3Address } from '../../shared/s3/arguments.ts';
import { openBucket } from '../../shared/s3/bucket.ts';
import { readSealKey, type SealKey } from '../../shared/sealed/key.ts';
import { type Facts, factsOf, type Received } from './facts.ts';
import { FileTarget } from './file-target.ts';
import { markOf } from './mark.ts';
import { findSources, type Source } from './member.ts';
import type { SpoolOptions } from './own-spool.ts';
import { PartQueue, settle } from './part-queue.ts';
import { readThrough } from './read-through.ts';
import { S3Target } from './s3-target.ts';
import { SealedTarget } from './sealed-target.ts';
import { SpooledTarget } from './spooled-target.ts';
import type { Target } from './target.ts';

export interface BackupOptions {
  readonly etcd: EtcdAdminOptions & { readonly endpoints: readonly string[] };
  readonly to: { readonly path: string } | ({ readonly address: S3Address } & SpoolOptions);
  /** It is sealed before it leaves this machine, and a copy that is not stays here meanwhile. */
  readonly sealing?: ({ readonly keyPath: string } & SpoolOptions) | undefined;
  /**
   * A secret, the same for all attempts at one backup; undefined for a run that is the only one.
   */
  readonly writer?: string | undefined;
  /** The size up to which a member is asked for its hash. */
  readonly confirmUpToBytes?: number | undefined;
  /** Nobody but these attempts writes to this name: uploads that wait there are theirs. */
  readonly isNameOwn?: boolean;
}

export interface BackupDeps {
  readonly clock?: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (step: 'sent' | 'read', doneBytes: number, totalBytes: number) => void;
}

export interface Backup {
  readonly name: string;
  readonly facts: Facts;
}

export async function backUp(options: BackupOptions, deps: BackupDeps): Promise<Backup> {
  const { sealing } = options;
  const key = sealing && (await readSealKey(sealing.keyPath));
  const target = targetOf(options, key, deps.clock);
  try {
    // Before etcd is asked: it may be gone, and what an earlier attempt has finished is there.
    const facts = (await target.earlier(deps.signal)) ?? (await fromEtcd(options, target, deps));
    return { name: target.name, facts };
  } finally {
    await target.close();
  }
}

async function fromEtcd(
  { etcd: options, confirmUpToBytes }: BackupOptions,
  target: Target,
  deps: BackupDeps,
): Promise<Facts> {
  const etcd = openEtcdAdmin(options);
  try {
    const sources = await findSources(etcd, options.endpoints, deps.signal);
    return await taken(sources, target, { ...deps, confirmUpToBytes });
  } finally {
    await etcd.close();
  }
}

type Taking = BackupDeps & Pick<BackupOptions, 'confirmUpToBytes'>;

async function taken(sources: readonly Source[], target: Target, deps: Taking): Promise<Facts> {
  const [source] = sources;
  if (source === undefined) throw new Error('nobody to back up from');
  try {
    await target.begin(source.status.dbSizeBytes, deps.signal);
    const received = await receive(source, target, deps);
    const facts = await check(sources, target, received, deps);
    return await target.finish(facts, deps.signal);
  } catch (error) {
    throw await afterAbort(target, deps.signal.aborted ? deps.signal.reason : error);
  }
}

function targetOf(
  { to, writer, sealing, isNameOwn = false }: BackupOptions,
  key: SealKey | undefined,
  clock: Clock | undefined,
): Target {
  const mark = markOf(writer, key);
  const seal = key && sealing && { key, spooling: sealing };
  if ('path' in to) {
    const target = new FileTarget(to.path, mark);
    return seal === undefined ? target : new SealedTarget(target, seal.key, seal.spooling);
  }
  const { place, settings } = to.address;
  const bucket = openBucket(place.bucket, settings, clock === undefined ? {} : { clock });
  const target = new S3Target(bucket, { place, mark, isNameOwn });
  // A sealed one goes out from memory: the disk has the plain bytes, which are read.
  if (seal === undefined) return new SpooledTarget(target, to);
  return new SealedTarget(target, seal.key, seal.spooling);
}

/** All of the stream, with the hash at its end that says so. */
async function receive(
  { member, url }: Source,
  target: Target,
  { clock = systemClock, signal, onProgress }: BackupDeps,
): Promise<Received> {
  const takenAtMs = clock.nowMs();
  const hash = new TrailedHash();
  const stop = new AbortController();
  const queue = new PartQueue(target.partBytes, target.partsAtOnce, (part) =>
    target.send(part, stop.signal),
  );
  try {
    for await (const { blob, leftBytes } of await member.snapshot(signal)) {
      hash.update(blob);
      await queue.write(blob);
      onProgress('sent', hash.sizeBytes, hash.sizeBytes + leftBytes);
    }
    hash.checked();
    await queue.end();
    return { takenAtMs, sizeBytes: hash.sizeBytes, sha256: hash.ofFile() };
  } catch (error) {
    await settle(queue, stop);
    if (error instanceof Failure || signal.aborted) throw error;
    const where = `The snapshot from ${url} broke off at byte ${hash.sizeBytes}`;
    const message = `${where} (${reasonOf(error)}). Nothing was kept. Take it again.`;
    throw new Failure('ETCD_SNAPSHOT_BROKEN', message, { object: url, cause: error });
  }
}

async function check(
  [source, ...others]: readonly Source[],
  target: Target,
  received: Received,
  { signal, onProgress, confirmUpToBytes }: Taking,
): Promise<Facts> {
  if (source === undefined) throw new Error('nobody to back up from');
  const { header, version, alarms } = source.status;
  const members = [source, ...others].map(({ member }) => member);
  const checked = await readThrough(
    target.spool.path,
    { members, version },
    {
      name: `the snapshot from ${source.url}`,
      isDigestKnown: target.isSpoolHeld,
      confirmUpToBytes,
      signal,
      onProgress: (done, total) => onProgress('read', done, total),
    },
  );
  const { clusterId, memberId } = header;
  const raised = [...new Set(alarms.map(({ type }) => type))];
  return factsOf({ version, clusterId, memberId, alarms: raised }, received, checked);
}

/** The error, or that and what is left because of a second one. */
async function afterAbort(target: Target, error: unknown): Promise<unknown> {
  try {
    await target.abort();
    return error;
  } catch (second) {
    const left = second instanceof Error ? second.message : String(second);
    if (!(error instanceof Failure)) return error;
    const { code, message, object } = error;
    const told = `${message} What was sent is left behind: ${left}`;
    return new Failure(code, told, { cause: error, ...(object === undefined ? {} : { object }) });
  }
}
