// The files that make a guest: Debian's kernel, the emulator, and a first file system in memory
// with the few modules by which all other files are reached.
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { debianFiles } from '../builders/debian-files.ts';

export interface GuestFiles {
  /** Where the packages are unpacked. */
  readonly dir: string;
  /** For LD_LIBRARY_PATH. */
  readonly libraries: string;
  readonly kernel: string;
  readonly initramfs: string;
}

const run = promisify(execFile);

/** Its name has the version, and this one depends on the newest. */
const KERNEL = 'linux-image-cloud-amd64';

/** In this order each finds what it needs. */
const MODULES = [
  'virtio_ring',
  'virtio',
  'virtio_pci_modern_dev',
  'virtio_pci_legacy_dev',
  'virtio_pci',
  'fuse',
  'virtiofs',
  'overlay',
];

/** `work` takes those that belong to one guest. */
export async function guestFiles(work: string): Promise<GuestFiles> {
  const { stdout } = await run('apt-cache', ['depends', KERNEL]);
  const image = /Depends: (linux-image-\S+)/.exec(stdout)?.[1] ?? KERNEL;
  const { dir, libraries } = await debianFiles({
    name: 'guest',
    packages: ['qemu-system-x86', 'kmod'],
    beside: ['qemu-system-common', 'qemu-system-data', 'seabios', 'busybox-static', image],
    isTaken: () => true,
  });
  const release = (await readdir(join(dir, 'lib/modules'))).at(0) ?? '';
  const env = { ...process.env, LD_LIBRARY_PATH: libraries.join(':') };
  // It is one program, which looks at its name.
  const index = 'for name in depmod modprobe; do ln -sf kmod bin/$name; done; bin/depmod -b . "$0"';
  await run('sh', ['-c', index, release], { cwd: dir, env });
  return {
    dir,
    libraries: libraries.join(':'),
    kernel: join(dir, 'boot', `vmlinuz-${release}`),
    initramfs: await makeInitramfs(dir, join('lib/modules', release), work),
  };
}

async function makeInitramfs(dir: string, modules: string, work: string): Promise<string> {
  const root = join(work, 'initramfs');
  for (const name of ['bin', 'dev', 'proc', 'sys', 'below', 'above', 'whole', 'modules']) {
    await mkdir(join(root, name), { recursive: true });
  }
  const all = await readdir(join(dir, modules), { recursive: true });
  for (const name of MODULES) {
    const found = all.find((path) => basename(path) === `${name}.ko`);
    if (found === undefined) throw new Error(`Debian's ${basename(modules)} has no module ${name}`);
    await cp(join(dir, modules, found), join(root, 'modules', `${name}.ko`));
  }
  await writeFile(join(root, 'modules/order'), MODULES.map((name) => `${name}.ko\n`).join(''));
  const busybox = join(dir, 'bin/busybox');
  await cp(busybox, join(root, 'bin/busybox'));
  await cp(join(import.meta.dirname, 'init.sh'), join(root, 'init'));
  await chmod(join(root, 'init'), 0o755);
  const pack = 'cd "$0" && find . | "$1" cpio -o -H newc';
  await run('sh', ['-c', `${pack} > "$2"`, root, busybox, `${root}.cpio`]);
  return `${root}.cpio`;
}
