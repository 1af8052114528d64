// Which of the archives in the parts cache stay: whoever takes one marks it with the time, and
// whoever has written one removes what nobody has taken for long.
import { createHash } from 'node:crypto';
import { access, constants, readdir, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { withLock } from '../../local/parts/lock.ts';

/** The newest, and one before it for whoever goes back and forth between two versions. */
const KEPT = 2;

/**
 * A start takes all of its archives first and then imports them, two minutes for each at most. So
 * what was taken earlier than this is read by nobody.
 */
const READ_WITHIN_MS = 3_600_000;

/** A tag begins with a number, also after a `v`; what has another has itself alone. */
function repositoryOf(archive: string): string {
  const name = basename(archive);
  return /^(.+?)-v?\d[\w.-]*-[0-9a-f]{16}\.tar$/.exec(name)?.[1] ?? name;
}

/** Names of files that a killed writer left behind. */
const UNFINISHED = /^\.layout-|\.tar\.[0-9a-f-]{36}$/;

/** False when it is not there. */
export function handOut(archive: string): Promise<boolean> {
  return locked(dirname(archive), async () => {
    const now = new Date();
    // Where no time can be set, nothing can be removed either.
    const touched = utimes(archive, now, now).catch(() => access(archive, constants.R_OK));
    return touched.then(
      () => true,
      () => false,
    );
  });
}

/** After `archive` was written: the others of its repository, whatever their tags. */
export async function prune(archive: string): Promise<void> {
  const dir = dirname(archive);
  await locked(dir, async () => {
    const names = await readdir(dir);
    const archives = names.filter((name) => repositoryOf(name) === repositoryOf(archive));
    const old = (await byAge(dir, archives)).slice(KEPT);
    const unfinished = await byAge(
      dir,
      names.filter((name) => UNFINISHED.test(name)),
    );
    const untilMs = Date.now() - READ_WITHIN_MS;
    for (const { path, usedMs } of [...old, ...unfinished])
      if (usedMs < untilMs) await rm(path, { recursive: true, force: true });
  });
}

interface Aged {
  readonly path: string;
  readonly usedMs: number;
}

/** The newest first. One that is gone meanwhile is as good as new: nothing is to be done. */
async function byAge(dir: string, names: readonly string[]): Promise<readonly Aged[]> {
  const all = await Promise.all(
    names.map(async (name) => {
      const path = join(dir, name);
      const usedMs = await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => Infinity,
      );
      return { path, usedMs };
    }),
  );
  return all.toSorted((one, other) => other.usedMs - one.usedMs);
}

/** Between the look at an archive's age and its end, nobody may take it. */
async function locked<Result>(dir: string, work: () => Promise<Result>): Promise<Result> {
  const name = `ballast-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`;
  return withLock(name, { onWait: () => undefined }, work);
}
