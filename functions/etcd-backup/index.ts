// Takes backups of etcds, each once and in a Job of its own: for each EtcdBackup one Job, whose
// pod runs the program that lies here too, and has no token of the API server. Makes EtcdBackups by
// schedules, and removes what these have stored. Changes of both kinds and of Jobs wake the
// function, and the sweep's tick. Its memory is the status of both: two instances at once, lost
// events and a killed process cost time, and make no second Job and no second backup of a run.
//
// The files of the function, in the order of a reconcile:
//   both               the entry: an event may be about a backup, and about its schedule
//   reconciler         binds what follows to the shared reconciler
//   object             an EtcdBackup as read, and what its Job is called
//   observe            reads the state: how the etcd is reached, Job, pods, and why one waits
//   state              the state as types
//   outcome, result    what came of the Job; what its pod said, which anybody may have written
//   decide             the next step; decision
//   attempts           tells steps apart, to hold back those that change nothing
//   steps              applies one step
//   status             what the status is, and when Degraded turns True
//   render/            the Job, and the arguments of its program
// of schedules, in schedule/, by the same names, and beside these
//   timetable          when a schedule runs
//   promise            until when the newest good backup is new enough
//   retention          which good ones may go
//   rehearsals         how many good ones since one was rehearsed, and whether the next one is
//   gauges             what metrics show
// and of the program (`npm run backup`), which asks the API server for nothing:
//   main, command      one line that says what came of it; options
//   backup             the whole of it; member, read-through, facts
//   target             where to: file-target, s3-target; part-queue
//   rehearsal/         restores a stored backup, and reads what came of that
//   remove/            removes a stored backup
import { ETCD_BACKUP_LEASE, ETCD_BACKUPS } from '../../shared/api/etcd-backup.ts';
import { text } from '../../shared/function/parsers.ts';
import { defineStateful } from '../../shared/stateful/define.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

export const etcdBackup = defineStateful({
  name: 'etcd-backup',
  purpose: 'Takes backups of etcds in Jobs, once or by schedules, and says what is known of them.',
  fieldManager: FIELD_MANAGER,
  lease: ETCD_BACKUP_LEASE,
  owner: { ...ETCD_BACKUPS, kind: 'EtcdBackup' },
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
