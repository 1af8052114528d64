// Runs a program in a root directory of its own, as its pod's user. Without root there is no other
// user to give, and a namespace of users is entered, outside of which it is still the same one.
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

/** Does what fsGroup does. Without root all users of these pods are the same one. */
export async function giveTo(uid: number, path: string): Promise<void> {
  if (isRoot) await chown(path, uid, uid);
}
