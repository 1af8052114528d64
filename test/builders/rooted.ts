// A program in a root directory of its own, as its pod's user. Who is not root has no other user to
// give, and enters by a namespace of users, in which it still is itself to everybody outside.
import { chown } from 'node:fs/promises';

const isRoot = process.getuid?.() === 0;

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

export const rooted = (root: string, uid: number, program: readonly string[]): Command =>
  isRoot
    ? { command: '/usr/sbin/chroot', args: [`--userspec=${uid}`, root, ...program] }
    : {
        command: '/usr/bin/unshare',
        // Under another number than root's, so that files may be kept from it.
        args: ['--user', `--map-user=${uid}`, `--map-group=${uid}`, `--root=${root}`, ...program],
      };

/** As fsGroup does. Who is not root runs all users of these pods by itself. */
export async function giveTo(uid: number, path: string): Promise<void> {
  if (isRoot) await chown(path, uid, uid);
}
