// Takes backups of etcds, each once and in a Job of its own: for each EtcdBackup one Job, whose
// pod runs the program that lies here too, and has no token of the API server. Changes of
// EtcdBackups and of their Jobs wake the function, and the sweep's tick. Its memory is the status
// of the EtcdBackup: two instances at once, lost events and a killed process cost time, and make
// no second Job.
//
// The files of the function, in the order of a reconcile:
//   reconciler         the entry: binds what follows to the shared reconciler
//   object             an EtcdBackup as read, and what its Job is called
//   observe            reads the state: how the etcd is reached, Job, pods, and why one waits
//   state              the state as types
//   outcome, result    what came of the Job; what its pod said, which anybody may have written
//   decide             the next step; decision
//   attempts           tells steps apart, to hold back those that change nothing
//   steps              applies one step
//   status             what the status is
//   render/            the Job, and the arguments of its program
// and of the program (`npm run backup`), which asks the API server for nothing:
//   main, command      one line that says what came of it; options
//   backup             the whole of it; member, read-through, facts
//   target             where to: file-target, s3-target; part-queue
import { ETCD_BACKUP_LEASE } from '../../shared/api/etcd-backup.ts';
import { text } from '../../shared/function/parsers.ts';
import { defineStateful } from '../../shared/stateful/define.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

export const etcdBackup = defineStateful({
  name: 'etcd-backup',
  purpose: 'Takes backups of etcds in Jobs, each once, and says what is known of them.',
  fieldManager: FIELD_MANAGER,
  lease: ETCD_BACKUP_LEASE,
  config: {
    image: {
      env: 'ETCD_BACKUP_IMAGE',
      meaning: 'the image that Jobs run, which is that of this function',
      parse: text,
      example: 'dev.local/ballast/etcd-backup:0.1.0',
    },
  },
  open: (options, { image }, metrics) => new Deps(options, image, metrics),
  load: () => import('./both.ts'),
});
