// Names the places on the volume that a backup is restored on, which are the same for all programs
// of the Job. All that an attempt before has left goes first.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../kube/json.ts';
import { factsIn } from '../jobs/said.ts';
import { type BackupFacts, FACTS_KIND } from '../api/etcd-backup.ts';
import { Failure } from '../errors.ts';
import { unwritable } from '../spool.ts';

/** As the data directory of members, and a name that no etcd has there. */
const DATA = 'data';
const WORK = 'restore';

/** Paths below the place where the volume is mounted. */
export const volumeIn = (dir: string) => ({
  dataDir: join(dir, DATA),
  workDir: join(dir, WORK),
  backup: join(dir, WORK, 'backup.db'),
  notes: join(dir, WORK, 'notes.json'),
  database: join(dir, DATA, 'member/snap/db'),
});

type Volume = ReturnType<typeof volumeIn>;

/** From the check, for what comes after it. */
export interface Notes {
  readonly facts: BackupFacts;
  /** The revision of the newest record, from which etcdutl counts. */
  readonly newest: string;
  /** When the check began. */
  readonly sinceMs: number;
}

/**
 * From here on until the end the working directory says that an attempt lies here. Data without it
 * is that of a member, and not ours to delete: a Job may come so late that its claim has been
 * handed over.
 */
export async function begin({ dataDir, workDir }: Volume): Promise<void> {
  if (existsSync(dataDir) && !existsSync(workDir)) {
    const message =
      `${dataDir} is there already, and no attempt of a restore is beside it: it may be that of ` +
      'a member. Nothing of it was touched. Create another EtcdRestore.';
    throw new Failure('RESTORE_VOLUME_USED', message, { object: dataDir });
  }
  try {
    await mkdir(workDir, { recursive: true, mode: 0o700 });
    await rm(dataDir, { recursive: true, force: true });
    for (const name of await readdir(workDir)) {
      await rm(join(workDir, name), { recursive: true });
    }
  } catch (error) {
    throw unwritable(workDir, error);
  }
}

export async function leaveNotes({ notes }: Volume, { facts, ...rest }: Notes): Promise<void> {
  const text = JSON.stringify({ ...rest, facts: { kind: FACTS_KIND, ...facts } });
  await writeFile(notes, text, { flush: true }).catch((error: unknown) => {
    throw unwritable(notes, error);
  });
}

export async function readNotes({ notes }: Volume): Promise<Notes> {
  const read: unknown = JSON.parse(await readFile(notes, 'utf8'));
  const { facts, newest, sinceMs } = isRecord(read) ? read : {};
  const found = isRecord(facts) ? factsIn(facts) : undefined;
  const isWhole = typeof newest === 'string' && typeof sinceMs === 'number';
  if (found === undefined || !isWhole) throw new Error('these are no notes');
  return { facts: found, newest, sinceMs };
}
