// Debian packages with the libraries that they load: fetched once, and unpacked beside the built
// parts without being installed.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { PartsUnavailable } from '../../knative/try/local/parts/explain.ts';
import { withLock } from '../../knative/try/local/parts/lock.ts';
import { partsSettings } from '../../knative/try/local/parts/settings.ts';

export interface Wanted {
  /** The directory in the parts cache begins with it. */
  readonly name: string;
  /** The libraries that these depend on are fetched, too. */
  readonly packages: readonly string[];
  /** Packages that are not fetched with what they depend on. */
  readonly beside: readonly string[];
  readonly isTaken: (library: string) => boolean;
}

export interface DebianFiles {
  readonly dir: string;
  /** Directories of libraries, for LD_LIBRARY_PATH. */
  readonly libraries: readonly string[];
}

const CLOSURE = [
  'depends',
  '--recurse',
  ...['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map(
    (name) => `--no-${name}`,
  ),
];

/** The C library belongs to the loader of this machine. */
const OF_THIS_MACHINE = 'libc6';

export async function debianFiles(wanted: Wanted): Promise<DebianFiles> {
  const { cacheDir, platform } = partsSettings(process.env);
  const dir = join(cacheDir, `${wanted.name}-debian-${platform.replace('/', '-')}`);
  const lock = createHash('sha256').update(dir).digest('hex').slice(0, 16);
  await withLock(`ballast-${lock}`, { onWait: () => undefined }, async () => {
    if (await stat(dir).catch(() => undefined)) return;
    await mkdir(dirname(dir), { recursive: true });
    await fetchInto(dir, wanted);
  });
  const triple = (await readdir(join(dir, 'usr/lib'))).find((name) => name.includes('-linux-'));
  return { dir, libraries: [`usr/lib/${triple}`, `lib/${triple}`].map((path) => join(dir, path)) };
}

async function fetchInto(dir: string, { packages, beside, isTaken }: Wanted): Promise<void> {
  const work = await mkdtemp(`${dir}.`);
  try {
    const run = promisify(execFile);
    const { stdout } = await run('apt-cache', [...CLOSURE, ...packages]);
    const libraries = stdout
      .split('\n')
      .filter((name) => name.startsWith('lib') && name !== OF_THIS_MACHINE && isTaken(name));
    const all = [...new Set(libraries), ...packages, ...beside];
    await run('apt-get', ['download', ...all], { cwd: work });
    const archives = (await readdir(work)).filter((name) => name.endsWith('.deb'));
    const root = join(work, 'root');
    for (const archive of archives) await run('dpkg-deb', ['-x', join(work, archive), root]);
    await rename(root, dir);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const names = packages.join(', ');
    const message = `Debian's ${names} cannot be had: ${why}\nTry \`apt-get update\` first.`;
    throw new PartsUnavailable(message, { cause });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
