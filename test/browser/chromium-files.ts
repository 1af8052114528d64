// Debian's headless Chromium, with the libraries that it loads: fetched once, and unpacked beside
// the built parts without being installed.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { PartsUnavailable } from '../../knative/try/local/parts/explain.ts';
import { withLock } from '../../knative/try/local/parts/lock.ts';
import { partsSettings } from '../../knative/try/local/parts/settings.ts';

const PACKAGE = 'chromium-headless-shell';
/** The other one has its data. */
const PACKAGES = [PACKAGE, 'chromium-common'];
/** The first belongs to the loader of this machine; the others draw on graphics cards. */
const NOT_TAKEN = /^lib(?:c6|gl1-mesa-dri|llvm\d+|z3-4)$/;
const CLOSURE = [
  'depends',
  '--recurse',
  ...['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map(
    (name) => `--no-${name}`,
  ),
  PACKAGE,
];

export interface ChromiumFiles {
  readonly binary: string;
  /** For LD_LIBRARY_PATH. */
  readonly libraries: string;
}

export async function chromiumFiles(): Promise<ChromiumFiles> {
  const { cacheDir, platform } = partsSettings(process.env);
  const dir = join(cacheDir, `chromium-debian-${platform.replace('/', '-')}`);
  await withLock('ballast-chromium', { onWait: () => undefined }, async () => {
    if (await stat(dir).catch(() => undefined)) return;
    await mkdir(dirname(dir), { recursive: true });
    await fetchInto(dir);
  });
  const triple = (await readdir(join(dir, 'usr/lib'))).find((name) => name.includes('-linux-'));
  const libraries = [`usr/lib/${triple}`, `lib/${triple}`, `usr/lib/${triple}/pulseaudio`];
  return {
    binary: join(dir, 'usr/lib/chromium', PACKAGE),
    libraries: libraries.map((path) => join(dir, path)).join(':'),
  };
}

async function fetchInto(dir: string): Promise<void> {
  const beside = await mkdtemp(`${dir}.`);
  try {
    const run = promisify(execFile);
    const { stdout } = await run('apt-cache', CLOSURE);
    const names = stdout
      .split('\n')
      .filter((name) => name.startsWith('lib') && !NOT_TAKEN.test(name));
    const wanted = [...new Set(names), ...PACKAGES];
    await run('apt-get', ['download', ...wanted], { cwd: beside });
    const archives = (await readdir(beside)).filter((name) => name.endsWith('.deb'));
    const root = join(beside, 'root');
    for (const archive of archives) await run('dpkg-deb', ['-x', join(beside, archive), root]);
    await rename(root, dir);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `Debian's ${PACKAGE} cannot be had: ${why}\nTry \`apt-get update\` first.`;
    throw new PartsUnavailable(message, { cause });
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}
