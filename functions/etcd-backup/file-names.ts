// Gives files names that nobody has yet.
import { link, open, rename, rm } from 'node:fs/promises';
import { unwritable } from '../../shared/spool.ts';
import { backupExists } from './target.ts';

/** From now on it has both names, where the file system knows that; else the new one alone. */
export async function nameNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw backupExists(to, error);
    if (!LINKLESS.some((code) => hasCode(error, code))) throw unwritable(to, error);
    await moveOverOwn(from, to);
  }
}

/** From now on it has the new name alone. */
export async function moveNew(from: string, to: string): Promise<void> {
  await nameNew(from, to);
  await rm(from, { force: true }).catch(() => undefined);
}

/** File systems that know no second name of a file. */
const LINKLESS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/** There the name is taken first, by an empty file of ours. */
async function moveOverOwn(from: string, to: string): Promise<void> {
  try {
    await (await open(to, 'wx', 0o600)).close();
    await rename(from, to);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw backupExists(to, error);
    throw unwritable(to, error);
  }
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
