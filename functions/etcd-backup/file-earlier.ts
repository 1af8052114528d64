// Looks for what earlier attempts at a backup have left in a directory. A backup of theirs with its
// facts counts when it is read and is as they say; everything else of theirs is taken back. Files
// of others stay as they are, and end this one.
import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { factsNameOf } from '../../shared/api/etcd-backup.ts';
import { unwritable } from '../../shared/spool.ts';
import { type Facts, FACTS_BYTES_MAX, type WrittenFacts, writtenFactsIn } from './facts.ts';
import { hasCode } from './file-names.ts';
import type { Mark } from './mark.ts';
import { backupExists } from './target.ts';

export interface LookedAt {
  readonly path: string;
  /** The name of a backup that is not finished yet: also of one that has its own name already. */
  readonly unfinished: string;
  readonly mark: Mark;
}

export async function earlierAt(
  { path, unfinished, mark }: LookedAt,
  signal: AbortSignal,
): Promise<Facts | undefined> {
  const beside = factsNameOf(path);
  const backup = await statsOf(path);
  const facts = await statsOf(beside);
  const told = facts && (await readFacts(beside, mark));
  if (facts !== undefined && told?.isSealed !== true) {
    throw backupExists(backup === undefined ? beside : path);
  }
  if (backup !== undefined && told !== undefined) {
    if (await isBackupOf(path, backup, told.facts, signal)) {
      for (const each of [unfinished, factsNameOf(unfinished)]) await rm(each, { force: true });
      return told.facts;
    }
  }
  // A file has no mark; but it has its first name for as long as its facts are not written.
  if (backup !== undefined && !(mark.writer && isSame(backup, await statsOf(unfinished)))) {
    throw backupExists(path);
  }
  // In this order: who finds facts finds a backup.
  for (const each of [beside, path]) await rm(each, { force: true });
  return undefined;
}

/** Undefined for what is not there, and for what our program has not written. */
export async function readFacts(path: string, mark: Mark): Promise<WrittenFacts | undefined> {
  const found = await statsOf(path);
  if (found?.isFile() !== true || found.size > FACTS_BYTES_MAX) return undefined;
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw unwritable(path, error);
  });
  return writtenFactsIn(text, mark);
}

async function isBackupOf(
  path: string,
  { size }: Stats,
  { sizeBytes, sha256 }: Facts,
  signal: AbortSignal,
): Promise<boolean> {
  if (size !== sizeBytes) return false;
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      hash.update(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw unwritable(path, error);
  }
  return hash.digest('hex') === sha256;
}

/** Undefined when nothing has this name. */
async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw unwritable(path, error);
  }
}

const isSame = (one: Stats, other: Stats | undefined): boolean =>
  one.ino === other?.ino && one.dev === other.dev;
