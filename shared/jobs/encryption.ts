// Gives a Job's program the key of a sealed backup: a file from one entry of a Secret, which the
// kubelet alone reads. Pure.
import type { BackupEncryption } from '../api/etcd-backup.ts';
import { fileOf, type Mounted, mountedForReading, option } from './manifest.ts';

const KEY_DIR = '/etc/ballast/encryption';
const KEY_FILE = 'key';

export const keyOptions = (encryption: BackupEncryption | undefined): readonly string[] =>
  encryption === undefined ? [] : [option('encrypt-key-file', `${KEY_DIR}/${KEY_FILE}`)];

export function keyMounted(encryption: BackupEncryption | undefined): readonly Mounted[] {
  if (encryption === undefined) return [];
  const { secretName: name, key } = encryption;
  return [mountedForReading('encryption', KEY_DIR, { secret: fileOf({ name, key }, KEY_FILE) })];
}
