// Restores backups of etcds, each once and into an EtcdCluster that is not there yet: a Job brings
// the backup into the claim of the first member, holds it against its facts, and has etcdutl
// restore it; then the EtcdCluster is made, and the claim handed over to it. Changes of
// EtcdRestores, of their Jobs and of their EtcdClusters wake the function, and the sweep's tick.
// Its memory is the status of the EtcdRestore: two instances at once, lost events and a killed
// process cost time, and leave nothing half made.
//
// The files of the function, in the order of a reconcile:
//   reconciler         the entry: binds what follows to the shared reconciler
//   object             an EtcdRestore as read, and the names of what it makes
//   observe            reads the state: claim, Job, EtcdCluster; source, target, taken
//   state              the state as types, and what the status remembers
//   outcome            what came of the Job and of the whole; result
//   decide             the next step; decision
//   attempts           tells steps apart, to hold back those that change nothing
//   steps              applies one step
//   status             what the status is, and when Degraded turns True
//   render/            the claim, the Job with the arguments of its programs, and the EtcdCluster
// and of the program in the Job's pod, which asks the API server for nothing:
//   main, command      one line that says what came of it; options
// which checks the backup and confirms what etcdutl made of it by shared/backups/, as a rehearsal
// does.
import { ETCD_RESTORE_LEASE, ETCD_RESTORES } from '../../shared/api/etcd-restore.ts';
import { text } from '../../shared/function/parsers.ts';
import { defineStateful } from '../../shared/stateful/define.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

export const etcdRestore = defineStateful({
  name: 'etcd-restore',
  purpose: 'Restores backups of etcds into new EtcdClusters, each once and checked before.',
  fieldManager: FIELD_MANAGER,
  lease: ETCD_RESTORE_LEASE,
  owner: { ...ETCD_RESTORES, kind: 'EtcdRestore' },
  config: {
    image: {
      env: 'ETCD_RESTORE_IMAGE',
      meaning: 'the image that Jobs run beside that of etcd, which is that of this function',
      parse: text,
      example: 'dev.local/ballast/etcd-restore:0.1.0',
    },
  },
  open: (options, { image }) => new Deps(options, image),
  load: () => import('./reconciler.ts'),
});
