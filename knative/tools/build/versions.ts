// Puts a finished build in force by turning one link, which is a single step, and keeps the build
// before it for processes that still run from there.
import { readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

/** Marks what is not finished: nobody runs from it, and nobody but its build removes it. */
export const WORK_PREFIX = '.work-';

/** Turns `workDir`, which lies beside the other versions, into what the link at `link` shows. */
export async function publish(workDir: string, link: string): Promise<void> {
  const versionsDir = dirname(workDir);
  const version = join(versionsDir, basename(workDir).slice(WORK_PREFIX.length));
  await rename(workDir, version);
  const before = await targetOf(link);
  const newLink = `${workDir}-link`;
  await symlink(relative(dirname(link), version), newLink);
  await renameOver(newLink, link);
  if (before !== undefined) await removeOlderThan(basename(before), versionsDir);
}

async function renameOver(newLink: string, link: string): Promise<void> {
  try {
    await rename(newLink, link);
  } catch (error) {
    if (!hasCode(error, 'EISDIR')) throw error;
    // Builds from before there were links are directories; this happens once.
    await rm(link, { recursive: true, force: true });
    await rename(newLink, link);
  }
}

/** Undefined when there is no link: nothing was built here, or before there were links. */
async function targetOf(link: string): Promise<string | undefined> {
  try {
    return await readlink(link);
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EINVAL')) return undefined;
    throw error;
  }
}

/**
 * By age and not by name: another build may have finished its version and not yet turned the link.
 */
async function removeOlderThan(name: string, versionsDir: string): Promise<void> {
  const limitMs = await bornMs(join(versionsDir, name));
  for (const entry of await readdir(versionsDir)) {
    if (entry.startsWith(WORK_PREFIX)) continue;
    const path = join(versionsDir, entry);
    if ((await bornMs(path)) < limitMs) await rm(path, { recursive: true, force: true });
  }
}

/** When it got its name, which is the last change to a finished version; 0 when it is gone. */
async function bornMs(path: string): Promise<number> {
  try {
    return (await stat(path)).ctimeMs;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0;
    throw error;
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
