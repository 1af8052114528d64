// Programs that a node needs and that Go cannot build alone: the machine's own where they fit, and
// else Debian's packages, fetched once and unpacked beside the built parts without installing them.
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PartsUnavailable } from '../local/parts/explain.ts';
import { withLock } from '../local/parts/lock.ts';
import type { PartsSettings } from '../local/parts/settings.ts';
import { run } from './commands.ts';

interface ProgramSet {
  readonly name: string;
  readonly packages: readonly string[];
  readonly programs: readonly string[];
  /** The file to execute, and its first arguments, where Debian names the program otherwise. */
  readonly binary: string;
  readonly isOneOfMany: boolean;
  /** Whether what is on PATH can be used. */
  fits(dir: string): Promise<boolean>;
}

const fromBuild = ['', '-save', '-restore'];

const IPTABLES: ProgramSet = {
  name: 'iptables',
  packages: [
    'iptables',
    'libip4tc2',
    'libip6tc2',
    'libxtables12',
    'libnftnl11',
    'libmnl0',
    'libnetfilter-conntrack3',
    'libnfnetlink0',
  ],
  programs: ['iptables', 'ip6tables'].flatMap((name) => fromBuild.map((end) => `${name}${end}`)),
  binary: 'usr/sbin/xtables-nft-multi',
  isOneOfMany: true,
  fits: () => Promise.resolve(true),
};

const RUNC: ProgramSet = {
  name: 'runc',
  packages: ['runc', 'libseccomp2'],
  programs: ['runc'],
  binary: 'usr/sbin/runc',
  isOneOfMany: false,
  // Without seccomp it refuses every sandbox.
  fits: async (dir) => (await run(join(dir, 'runc'), '--version')).includes('libseccomp'),
};

/** Where administrators' programs lie, also for a shell that does not look there. */
const SYSTEM_DIRS = ['/usr/sbin', '/sbin', '/usr/local/sbin'];

export interface DebianPrograms {
  readonly iptablesDir: string;
  readonly runc: string;
}

export async function debianPrograms(
  settings: PartsSettings,
  onNote: (text: string) => void,
): Promise<DebianPrograms> {
  const iptablesDir = await directoryOf(IPTABLES, settings, onNote);
  return { iptablesDir, runc: join(await directoryOf(RUNC, settings, onNote), 'runc') };
}

async function directoryOf(
  set: ProgramSet,
  settings: PartsSettings,
  onNote: (text: string) => void,
): Promise<string> {
  for (const dir of [...settings.pathDirs, ...SYSTEM_DIRS]) {
    if ((await holdsAll(set, dir)) && (await set.fits(dir))) return dir;
  }
  const dir = join(settings.cacheDir, `${set.name}-debian-${settings.platform.replace('/', '-')}`);
  const bin = join(dir, 'bin');
  const lock = `ballast-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`;
  await withLock(lock, { onWait: () => undefined }, async () => {
    if (await holdsAll(set, bin)) return;
    onNote(`There is no ${set.name} on PATH that fits: fetching Debian's packages, once.`);
    await unpackInto(set, dir);
  });
  return bin;
}

async function holdsAll({ programs }: ProgramSet, dir: string): Promise<boolean> {
  const names = new Set(await readdir(dir).catch(() => []));
  return programs.every((name) => names.has(name));
}

async function unpackInto(set: ProgramSet, dir: string): Promise<void> {
  const beside = `${dir}.unpacking`;
  await rm(beside, { recursive: true, force: true });
  await mkdir(join(beside, 'root'), { recursive: true });
  try {
    // In a shell, since it saves into the directory where it runs.
    await run('sh', '-c', 'cd "$0" && apt-get download "$@"', beside, ...set.packages);
    const archives = (await readdir(beside)).filter((name) => name.endsWith('.deb'));
    for (const archive of archives)
      await run('dpkg-deb', '-x', join(beside, archive), join(beside, 'root'));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PartsUnavailable(
      `There is no ${set.name} on PATH that fits, and Debian's packages cannot be had: ${why}\n` +
        `Install ${set.name}, or try \`apt-get update\` first.`,
      { cause },
    );
  }
  await writePrograms(set, beside, dir);
  await rm(dir, { recursive: true, force: true });
  await rename(beside, dir);
}

/** Each finds its libraries and extensions where the packages were unpacked. */
async function writePrograms(set: ProgramSet, unpacked: string, dir: string): Promise<void> {
  const above = join(unpacked, 'root/usr/lib');
  const triple = (await directoriesIn(above)).find((name) => name.includes('-linux-'));
  const libraries = join(dir, 'root/usr/lib', triple ?? '');
  const bin = join(unpacked, 'bin');
  await mkdir(bin);
  for (const name of set.programs) {
    const lines = [
      '#!/bin/sh',
      `export LD_LIBRARY_PATH='${libraries}' XTABLES_LIBDIR='${join(libraries, 'xtables')}'`,
      `exec '${join(dir, 'root', set.binary)}' ${set.isOneOfMany ? `${name} ` : ''}"$@"`,
    ];
    const path = join(bin, name);
    await writeFile(path, `${lines.join('\n')}\n`);
    await chmod(path, 0o755);
  }
}

async function directoriesIn(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir);
  const kinds = await Promise.all(names.map((name) => stat(join(dir, name))));
  return names.filter((_, index) => kinds[index]?.isDirectory());
}
