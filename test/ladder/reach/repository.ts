// All that Git has or would take of the repository, as it is now.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstat, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Contents by path from the top; a symbolic link is where it leads. */
export type Repository = ReadonlyMap<string, Content>;

export interface Content {
  readonly hash: string;
  readonly bytes: Buffer;
  /** A file with the same one is not read again. */
  readonly stamp: string;
}

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Also what is not added yet; not what is ignored, as that is made from the rest. Answers `before`
 * itself when nothing has changed.
 */
export async function readRepository(root: string, before: Repository): Promise<Repository> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const options = { cwd: root, maxBuffer: OUTPUT_BYTES_MAX };
  const { stdout } = await promisify(execFile)('git', args, options);
  const paths = [...new Set(stdout.split('\0'))].filter((path) => path !== '').toSorted();
  const now = new Map<string, Content>();
  for (const path of paths) {
    const content = await contentOf(join(root, path), before.get(path));
    if (content !== undefined) now.set(path, content);
  }
  const isSame = [...now].every(([path, content]) => before.get(path) === content);
  return isSame && now.size === before.size ? before : now;
}

/** Undefined for what was deleted and is still in the index. */
async function contentOf(path: string, before?: Content): Promise<Content | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  const stamp = [found.ino, found.size, found.mode, found.mtimeMs, found.ctimeMs].join(' ');
  if (stamp === before?.stamp) return before;
  const bytes = found.isSymbolicLink() ? Buffer.from(await readlink(path)) : await readFile(path);
  const kind = found.isSymbolicLink() ? 'link' : String(found.mode & 0o111);
  const hash = createHash('sha256').update(`${kind} `).update(bytes).digest('base64url');
  return { bytes, hash, stamp };
}
