// Looks at what operators that are gone left behind, and plans how data and clients are led into
// clusters of ours: which objects are made, adopted, changed, deleted and kept, in which steps, and
// what speaks against it. A plan that a person confirms is carried out, one change at a look, and
// taken back when a person says so before clients are led over. Its memory is the status of the
// Takeover.
// The sweep alone wakes it, so that it watches nothing; where there is no Takeover it lists them,
// and reads and writes nothing else.
//
// The files of the function, in the order of a reconcile:
//   reconciler         the entry: binds what follows to the shared reconciler
//   object, legacy     a Takeover and the object of the operator, as read
//   observe            reads the state:
//     find-left        pods, Services and claims that the operator made
//     find-operators   the Deployment of the operator
//     try-lead         whether the Service may be led over; find-led: whether it is, at the end
//     target           the new EtcdCluster as it would be stored (as-stored); carry-over: what it
//                      is made of
//     read-secrets     the certificates of before and after
//     taken            whether the names of the new one are free
//     ask-members      the members' own word; door: how they are asked
//     observe-work     while it is carried out: alarms, and what was made (find-new, made-for);
//                      compare: keys of both
//   state, any-state   the state as types
//   records            what the status remembers of a plan that is carried out
//   decide             the next step; decision, attempts; begin: the first records
//     plan             the plan with its id; planned-objects, planned-steps, notes
//     refuse-found     what speaks against it of either kind
//     refuse-legacy    and on the side of the old cluster: answers, versions
//     refuse-target    and on the side of the new one; refuse-secrets: and between them
//     claims-go        and where claims would go with a StatefulSet, until the last step
//     carry-out        the steps in their order, by stages: stop-operators, frozen, copy-data with
//                      copied, lead-over
//     obstacle         what a person did meanwhile
//     way-back         until when it can be rolled back; led-late: and where that was too late
//     take-back        deletes what was made, on rollback or for another attempt
//   apply-step         applies one step: steps; render: what it makes
//   status             what the status is
// Where members join (mode Join) there is, in join/: observe-work; planned, refuse, notes; begin,
// carry-out with join-members, switch-service, leave-members and members; take-back; steps with
// reach and render. Where the data are given up (mode Wipe), in wipe/: observe-work; planned,
// refuse, notes; begin, carry-out, take-back. Both make the EtcdCluster themselves: own-cluster,
// make-etcd-cluster.
// A NATS has its own, in nats/, and in nats/made/ what differs from who made it: the operator, or
// Helm of a chart. There are observe with find-left, config, ask-servers, carry-over and
// observe-work; plan, refuse with refuse-config and refuse-tls, notes; begin, carry-out with
// make-cluster, lead-over, move-clients and mesh; take-back; steps with render.
import { TAKEOVER_LEASE, TAKEOVERS } from '../../shared/api/takeover.ts';
import { defineStateful } from '../../shared/stateful/define.ts';
import { Deps } from './deps.ts';
import { DOOR } from './door.ts';
import { FIELD_MANAGER } from './field-manager.ts';

export const takeover = defineStateful({
  name: 'takeover',
  purpose: 'Leads the data of clusters whose operator is gone into clusters of ours, as planned.',
  fieldManager: FIELD_MANAGER,
  lease: TAKEOVER_LEASE,
  isQuiet: true,
  owner: { ...TAKEOVERS, kind: 'Takeover' },
  open: (options) => new Deps(options, DOOR),
  load: () => import('./reconciler.ts'),
});
