// One guest: its processes on this machine, what it says, and with which code its command ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { on } from 'node:events';
import { watch } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type GuestFiles, guestFiles } from './guest-files.ts';

/** A cluster of three nodes, and the file system for what is written. */
const MEMORY = '8G';
const LAST_WORDS = /The guest ended with (\d+)\.\s/;
const SOCKET = 'files.sock';
const SHARED_WITHIN_MS = 60_000;
const END_LENGTH = 1_000;

export interface GuestOptions {
  /** A program and its arguments. */
  readonly command: readonly string[];
  readonly print: (text: string) => void;
}

/** Resolves with the exit code. */
export async function runGuest({ command, print }: GuestOptions): Promise<number> {
  const work = await mkdtemp(join(tmpdir(), 'ballast-guest-'));
  const children: ChildProcess[] = [];
  try {
    const files = await guestFiles(work);
    await prepare(work, files, command);
    const socket = join(work, SOCKET);
    children.push(await shareFiles(files, socket));
    const machine = emulate(files, work, socket);
    children.push(machine);
    return await codeOf(machine, print);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await rm(work, { recursive: true, force: true });
  }
}

async function prepare(work: string, files: GuestFiles, command: readonly string[]): Promise<void> {
  const words = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const path = process.env['PATH'] ?? '';
  const script = [`cd '${process.cwd()}'`, `export PATH='${path}'`, words.join(' '), ''].join('\n');
  await writeFile(join(work, 'command.sh'), script);
  await writeFile(join(work, 'debian'), files.dir);
  await writeFile(join(work, 'libraries'), files.libraries);
  await cp(join(import.meta.dirname, 'inside.sh'), join(work, 'inside.sh'));
}

/** All files of this machine, which the guest reads and does not write. */
async function shareFiles(files: GuestFiles, socket: string): Promise<ChildProcess> {
  const watcher = watch(dirname(socket));
  const changes = on(watcher, 'change', { signal: AbortSignal.timeout(SHARED_WITHIN_MS) });
  const options = ['source=/', 'sandbox=chroot', 'cache=always', 'no_posix_lock'];
  const child = start(files, 'usr/lib/qemu/virtiofsd', [
    `--socket-path=${socket}`,
    ...options.flatMap((option) => ['-o', option]),
  ]);
  for await (const [, name] of changes) if (name === SOCKET) break;
  watcher.close();
  return child;
}

/**
 * One processor in software, whose clock counts its instructions: on a machine that is busy all of
 * it is slower, and no timeout in it runs out for that.
 */
function emulate(files: GuestFiles, work: string, socket: string): ChildProcess {
  const options = Object.entries({
    display: 'none',
    machine: 'q35,accel=tcg,memory-backend=memory',
    cpu: 'max',
    icount: 'shift=0',
    m: MEMORY,
    object: `memory-backend-memfd,id=memory,size=${MEMORY},share=on`,
    kernel: files.kernel,
    initrd: files.initramfs,
    append: `console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable guest=${work}`,
    chardev: `socket,id=files,path=${socket}`,
    device: 'vhost-user-fs-pci,chardev=files,tag=machine',
    serial: 'stdio',
  });
  return start(files, 'usr/bin/qemu-system-x86_64', [
    '-nodefaults',
    '-no-user-config',
    '-no-reboot',
    ...['qemu', 'seabios'].flatMap((name) => ['-L', join(files.dir, 'usr/share', name)]),
    ...options.flatMap(([name, value]) => [`-${name}`, value]),
  ]);
}

/** It ends with whoever started it, however that ends, and lets others on the machine go first. */
function start(files: GuestFiles, program: string, args: readonly string[]): ChildProcess {
  const command = ['--pdeathsig', 'KILL', '--', 'nice', join(files.dir, program), ...args];
  const env = { ...process.env, LD_LIBRARY_PATH: files.libraries };
  return spawn('setpriv', command, { env, stdio: ['ignore', 'pipe', 'ignore'] });
}

async function codeOf(machine: ChildProcess, print: (text: string) => void): Promise<number> {
  const { stdout } = machine;
  if (stdout === null) throw new Error('no output');
  let end = '';
  for await (const chunk of stdout.setEncoding('utf8')) {
    print(String(chunk));
    end = `${end}${String(chunk)}`.slice(-END_LENGTH);
  }
  const code = LAST_WORDS.exec(end)?.[1];
  if (code === undefined) throw new Error('The guest ended before its command did.');
  return Number(code);
}
