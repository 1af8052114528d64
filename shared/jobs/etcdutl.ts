// The part of a Job in which etcdutl restores a backup, from the image of the etcd that it is for:
// its container, and what its last words are. Pure.
import type { BackupError } from '../api/etcd-backup.ts';
import { cut } from '../cut.ts';
import { printable } from '../function/printable.ts';
import { CONTAINER_BOUNDS } from '../stateful/pod-spec.ts';
import type { PodEnd } from './job.ts';
import { type Mounted, mountsOf } from './manifest.ts';

/** The three parts of it, in their order: the first and the last are programs of ours. */
export const CHECK = 'check';
const ETCDUTL = 'restore';
export const CONFIRM = 'confirm';

/** Another exit code of these two behind which another attempt is in vain. */
export const REFUSED = 3;

const PROGRAM = '/usr/local/bin/etcdutl';
const WORDS_BYTES_MAX = 1_000;

interface Restoring {
  readonly image: string;
  readonly args: readonly string[];
  /** All that it gets. */
  readonly data: Mounted;
  readonly resources: unknown;
}

/** Its image may have no shell. */
export const etcdutlContainer = ({ image, args, data, resources }: Restoring) => ({
  name: ETCDUTL,
  image,
  command: [PROGRAM],
  args,
  volumeMounts: mountsOf([data]),
  // The last lines of its log are all that it says.
  terminationMessagePolicy: 'FallbackToLogsOnError',
  resources,
  ...CONTAINER_BOUNDS,
});

/** Undefined when another container has ended, or it has said nothing. */
export function etcdutlError({ container, exitCode, message }: PodEnd): BackupError | undefined {
  const words = printable(message).trim();
  if (container !== ETCDUTL || words === '') return undefined;
  const told = `etcdutl ended with exit code ${exitCode}, and said: ${words}`;
  return { code: 'RESTORE_FAILED', message: cut(told, WORDS_BYTES_MAX) };
}
