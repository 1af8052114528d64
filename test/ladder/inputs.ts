// All that a rung's result can hang on, as one hash: what Git has or would take of the repository,
// but for folders that the rung is known not to reach, the parts, and this machine's Node.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstat, readFile, readlink, stat } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { env, getuid, version } from 'node:process';
import { promisify } from 'node:util';
import { resolveParts } from '../../knative/try/local/parts/resolve.ts';
import type { Rung } from './rungs.ts';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Undefined where nobody can tell: what is not known to be the same is climbed. */
export async function inputsOf(
  { name, commands, unreached, parts }: Rung,
  root: string,
): Promise<string | undefined> {
  if (unreached === undefined) return undefined;
  const isReached = (path: string): boolean => !unreached.some((prefix) => path.startsWith(prefix));
  try {
    const paths = (await pathsOf(root)).filter(isReached);
    const hash = createHash('sha256');
    const ours = Object.keys(env).filter((key) => /^(BALLAST|KUBEBUILDER)_/.test(key));
    const set = ours.toSorted().map((key) => [key, env[key]]);
    hash.update(JSON.stringify([name, commands, version, process.arch, release(), getuid?.()]));
    hash.update(JSON.stringify([set, await binariesOf(parts ?? [])]));
    for (const path of paths) {
      const content = await contentOf(join(root, path));
      hash.update(JSON.stringify([path, content.length])).update(content);
    }
    return hash.digest('hex');
  } catch {
    return undefined;
  }
}

/** Also what is not added yet; not what is ignored, as that is made from the rest. */
async function pathsOf(root: string): Promise<string[]> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const options = { cwd: root, maxBuffer: OUTPUT_BYTES_MAX };
  const { stdout } = await promisify(execFile)('git', args, options);
  return [...new Set(stdout.split('\0'))].filter((path) => path !== '').toSorted();
}

/** A file that was deleted and is still in the index is empty; the hash has its name. */
async function contentOf(path: string): Promise<Buffer> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return Buffer.from('gone');
  if (found.isSymbolicLink()) return Buffer.from(await readlink(path));
  const mode = Buffer.from(`${found.mode & 0o111} `);
  return Buffer.concat([mode, await readFile(path)]);
}

/** They are found by then; a named directory may hold other ones of the same name. */
async function binariesOf(names: NonNullable<Rung['parts']>): Promise<readonly unknown[]> {
  const parts = [...(await resolveParts(names)).values()];
  return Promise.all(
    parts.map(async ({ path }) => {
      const { size, mtimeMs } = await stat(path);
      return [path, size, mtimeMs];
    }),
  );
}
