// Looks at what operators that are gone left behind, and plans how their data would be led into
// clusters of ours: which objects would be made, adopted, changed, deleted and kept, in which
// steps, and what speaks against it. It carries out nothing yet. The sweep alone wakes it, so that
// it watches nothing; where there is no Takeover it lists them, and reads and writes nothing else.
//
// The files of the function, in the order of a reconcile:
//   reconciler         the entry: binds what follows to the shared reconciler
//   object, legacy     a Takeover and the object of the operator, as read
//   observe            reads the state:
//     find-left        pods, Services and claims that the operator made
//     find-operators   the Deployment of the operator
//     target           the new EtcdCluster as it would be stored; carry-over: what it is made of
//     read-secrets     the certificates of before and after
//     taken            whether the names of the new one are free
//     ask-members      the members' own word
//   state              the state as types
//   decide             whether something speaks against the plan
//     plan             the plan with its id; planned-objects, planned-steps, notes
//     refuse-legacy    what speaks against it on the side of the old cluster: answers, versions
//     refuse-target    and on the side of the new one; refuse-secrets: and between them
//   status             what the status is
import { TAKEOVER_LEASE } from '../../shared/api/takeover.ts';
import { askLegacy } from '../../shared/etcd/legacy.ts';
import { defineStateful } from '../../shared/stateful/define.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

export const takeover = defineStateful({
  name: 'takeover',
  purpose: 'Plans how the data of clusters whose operator is gone is led into clusters of ours.',
  fieldManager: FIELD_MANAGER,
  lease: TAKEOVER_LEASE,
  isQuiet: true,
  open: (options) => new Deps(options, askLegacy),
  load: () => import('./reconciler.ts'),
});
