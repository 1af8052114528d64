// Brings a stored backup to the volume that it is restored on, and holds it against its facts on
// the way: size and sha256, then every page, the number of keys and the hash of them all. Before
// the first byte is fetched, the facts have to fit the etcd that restores it.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { BackupFacts } from '../api/etcd-backup.ts';
import { systemClock } from '../clock.ts';
import { Failure } from '../errors.ts';
import { openSnapshot, type SnapshotFacts } from '../etcd/snapshot/snapshot.ts';
import { compare, versionIn } from '../etcd/version.ts';
import { factsIn } from '../jobs/said.ts';
import { isRecord } from '../kube/json.ts';
import { Arrival } from '../sealed/arrival.ts';
import { openedFacts } from '../sealed/facts.ts';
import { readSealKey, type SealKey } from '../sealed/key.ts';
import { changed } from '../sealed/refusals.ts';
import { assertRoom, Spool } from '../spool.ts';
import { missing, openOrigin, type Origin, type OriginOptions } from './origin.ts';
import { begin, leaveNotes, volumeIn } from './volume.ts';

export interface CheckOptions {
  readonly from: OriginOptions;
  /** The key that it was sealed with; undefined for one that was not. */
  readonly keyPath: string | undefined;
  /** Where the volume is mounted. */
  readonly dir: string;
  readonly wanted: Wanted;
}

/** The etcd that restores it, and where. */
export interface Wanted {
  readonly version: string;
  /** Undefined where no etcd is to run on it. */
  readonly quotaBytes: number | undefined;
  /** The most that may be taken of the volume; undefined for what it has. */
  readonly roomBytes?: number | undefined;
  /** Whether the text of the facts is that of their writer; undefined where nobody could tell. */
  readonly isOfWriter?: ((text: string) => boolean) | undefined;
  /** As the EtcdBackup has it; undefined where none is named. */
  readonly sha256: string | undefined;
  /** Why nobody could log in; undefined where root can. */
  readonly lockedOut: string | undefined;
}

/** The first files of etcd's log, which are made as large at once. */
const LOG_BYTES = 128 * 1024 * 1024;

export async function check(options: CheckOptions, signal: AbortSignal): Promise<BackupFacts> {
  const sinceMs = systemClock.nowMs();
  const { dir, wanted } = options;
  const key = options.keyPath === undefined ? undefined : await readSealKey(options.keyPath);
  const volume = volumeIn(dir);
  await begin(volume);
  const origin = openOrigin(options.from);
  try {
    const facts = await factsOf({ origin, key, wanted }, signal);
    assertFits(origin.name, facts, wanted);
    await assertRestorable(dir, plainOf(facts).sizeBytes, wanted);
    await fetch({ origin, key, facts }, volume.backup, signal);
    const newest = await readThrough(origin.name, volume.backup, facts, wanted, signal);
    await leaveNotes(volume, { facts, newest, sinceMs });
    return facts;
  } finally {
    await origin.close();
  }
}

/** For the backup and what comes of it, which are there at once. */
async function assertRestorable(
  dir: string,
  sizeBytes: number,
  { roomBytes = Number.POSITIVE_INFINITY }: Wanted,
): Promise<void> {
  const neededBytes = 2 * sizeBytes + LOG_BYTES;
  if (neededBytes > roomBytes) {
    const message =
      `${dir} may take ${roomBytes} bytes, and to restore a backup of ${sizeBytes} takes ` +
      `${neededBytes}. Let it take more (spec.rehearsal.disk.size).`;
    throw new Failure('RESTORE_WITHOUT_ROOM', message, { object: dir });
  }
  await assertRoom(dir, neededBytes);
}

interface Asked {
  readonly origin: Origin;
  readonly key: SealKey | undefined;
  readonly wanted: Wanted;
}

async function factsOf(
  { origin, key, wanted: { isOfWriter } }: Asked,
  signal: AbortSignal,
): Promise<BackupFacts> {
  const { name } = origin;
  const sizeBytes = await origin.sizeBytes(signal);
  if (sizeBytes === undefined) throw missing(name);
  const text = await origin.facts(signal);
  const found = text === undefined ? undefined : parsed(text);
  // A wrong key is told before anything is held against anything.
  const facts = found && factsIn(openedFacts(found, key, name));
  if (facts === undefined) {
    const why =
      text === undefined ? 'There are no facts beside' : 'No facts of a backup lie beside';
    const message =
      `${why} ${name}, in a file that ends in .json: nobody knows whether it is whole. Restore ` +
      'one that has them, or restore it by hand (docs/etcd-backup.md).';
    throw new Failure('BACKUP_WITHOUT_FACTS', message, { object: name });
  }
  if (text !== undefined && isOfWriter?.(text) === false) {
    throw changed(name, 'has facts beside it that its writer has not written');
  }
  if (sizeBytes !== facts.sizeBytes) {
    throw changed(name, `has ${sizeBytes} bytes, and its facts say ${facts.sizeBytes}`);
  }
  return facts;
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const facts: unknown = JSON.parse(text);
    return isRecord(facts) ? facts : undefined;
  } catch {
    return undefined;
  }
}

/** As etcd sent it. */
const plainOf = ({ sizeBytes, sha256, encryption }: BackupFacts) =>
  encryption === undefined
    ? { sizeBytes, sha256 }
    : { sizeBytes: encryption.plainSizeBytes, sha256: encryption.plainSha256 };

function assertFits(name: string, facts: BackupFacts, wanted: Wanted): void {
  const { sha256, etcdVersion } = facts;
  const { sizeBytes } = plainOf(facts);
  if (wanted.sha256 !== undefined && sha256 !== wanted.sha256) {
    throw changed(name, `has the sha256 ${sha256}, and the EtcdBackup says ${wanted.sha256}`);
  }
  const [from, to] = [versionIn(etcdVersion), versionIn(wanted.version)];
  if (from === undefined || to === undefined || compare(from, to) > 0) {
    const message =
      `${name} is of etcd ${etcdVersion}, and ${wanted.version} is to run on it, which may not ` +
      `read it. Restore it with an image of ${etcdVersion} or later.`;
    throw new Failure('BACKUP_NEWER', message, { object: name });
  }
  if (wanted.quotaBytes !== undefined && sizeBytes > wanted.quotaBytes) {
    const message =
      `${name} has ${sizeBytes} bytes, and the quota is ${wanted.quotaBytes}: the new etcd would ` +
      'take no writes. Restore it with a larger quota, and storage for twice that.';
    throw new Failure('BACKUP_TOO_LARGE', message, { object: name });
  }
}

interface Fetched {
  readonly origin: Origin;
  readonly key: SealKey | undefined;
  readonly facts: BackupFacts;
}

async function fetch(
  { origin, key, facts }: Fetched,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const spool = await Spool.at(path);
  try {
    const arrival = new Arrival(origin.name, spool, key);
    // One that is not sealed lies on the disk as it came, and is read there anyway.
    const stored = key && createHash('sha256');
    const write = async (bytes: Buffer): Promise<void> => {
      stored?.update(bytes);
      await arrival.write(bytes);
    };
    await origin.copyTo({ write }, signal);
    await arrival.end();
    if (stored !== undefined) assertSha256(origin.name, stored.digest('hex'), facts.sha256);
    await spool.sync();
  } finally {
    await spool.close();
  }
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk);
  // The disk has what came.
  assertSha256(origin.name, hash.digest('hex'), plainOf(facts).sha256);
}

function assertSha256(name: string, sha256: string, said: string): void {
  if (sha256 === said) return;
  throw changed(name, `has the sha256 ${sha256}, and its facts say ${said}`);
}

/** Returns the revision of the newest record. */
async function readThrough(
  name: string,
  path: string,
  facts: BackupFacts,
  { lockedOut }: Wanted,
  signal: AbortSignal,
): Promise<string> {
  const snapshot = openSnapshot(path, { name, hasKvHash: true, signal });
  let keys = 0;
  for await (const batch of snapshot.entries()) keys += batch.length;
  const found = { ...snapshot.facts, keys };
  const differs = differencesOf(found, facts)[0];
  if (differs !== undefined) throw changed(name, differs);
  if (found.asksLogins && lockedOut !== undefined) {
    const message = `${name} asks for logins. ${lockedOut}`;
    throw new Failure('BACKUP_ASKS_LOGINS', message, { object: name });
  }
  return `${found.revision}`;
}

function differencesOf(found: SnapshotFacts, facts: BackupFacts): readonly string[] {
  const { revision, compactRevision, keys, kvHash } = found;
  const newest = revision > compactRevision ? revision : compactRevision;
  type Told = string | number | undefined;
  const compared: readonly (readonly [string, Told, Told])[] = [
    ['keys', keys, facts.keys],
    ['revision', `${newest}`, facts.revision],
    ['compactRevision', `${compactRevision}`, facts.compactRevision],
    ['hashKv', kvHash, facts.hashKv],
  ];
  return compared
    .filter(([, read, said]) => read !== said)
    .map(
      ([field, read, said]) => `has the ${field} ${read ?? ''}, and its facts say ${said ?? ''}`,
    );
}
