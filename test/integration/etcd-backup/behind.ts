// Does something in the middle of a snapshot, while the stream of it waits.
import type { BackupDeps } from '../../../functions/etcd-backup/backup.ts';

/** Once, when so many bytes have come. */
export function behind(bytes: number, act: () => void): BackupDeps['onProgress'] {
  let isDone = false;
  return (step, done) => {
    if (isDone || step !== 'sent' || done < bytes) return;
    isDone = true;
    act();
  };
}
