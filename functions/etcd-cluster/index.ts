// Keeps etcd clusters: bears them once, and brings every edit of the spec to the members one at a
// time, never before every other member is healthy. Changes of EtcdClusters, of their peers and
// pods wake it, and the sweep's tick. Its memory is the status of the EtcdCluster: two instances at
// once, lost events and a killed process cost time, never a quorum or an acknowledged write.
//
// The files, in the order of a reconcile:
//   reconciler         the entry: binds what follows to the shared reconciler
//   cluster            an EtcdCluster as read, and the names of its parts
//   observe            reads the state: peers, pods, claims and parts; ask-members: the answers of
//                      the members, by connect; ask-views: how each of them sees the others;
//                      strays: pods and claims that have lost their label
//   forgotten          members in memory whose data is gone
//   backups/           the schedules that have backups taken, and BackupReady by them
//   state, etcd-state  the state as types, and questions about it
//   decide             the one order in which planners are asked for the next step; decision
//   once-per-state     answers that several planners ask for
//   attempts           tells steps apart, to hold back those that change nothing
//   steps              applies one step
//   status, conditions what the status is; measures: sizes and revisions in it; gauges: metrics of
//                      it, by shown
//   degraded           when Degraded turns True
// planners, each for one kind of change:
//   records            what a planner remembers in the status, and forgets
//   safety             blockers: reasons why members must not be changed now
//   recover            a lost quorum, once a person has confirmed the recovery-plan
//   apply-parts        Secrets, Services, the budget and the policy of the network
//   birth              the first member, once; peers for claims that have data already
//   starts             how members in memory start without data, and that they do so once
//   join-first, join-old  members that join those of a legacy cluster; joining, by joins: which
//   hibernate          all members away and back
//   join, leave        more members, and fewer; move-leader: the leader hands over
//   replace-lost       a member whose volume cannot come back, or that the others have forgotten
//   auth/plan          users and roles, and whether etcd asks for logins; auth has all about them
//   roll               another spec, one member at a time; outdated: who needs it
//   upgrade            which image may follow which; image-for-new: that of a new peer
//   claim-marks        what claims tell of the data in them
//   replace-corrupt    a member whose data differs; corruption: whether that is certain
//   replace-refusing   a member that ends because of its data; refusal: the words for that
//   space              a database that is full; defragment: one that is mostly free; both by
//                      ask-upkeep, largest and upkeep-steps
// parts:
//   parts              reads them and compares them with how they are rendered
//   peer-spec          what the spec of a peer should be
//   certificates       of members and clients; certificate-hosts: the names in them; trust: whether
//                      members trust who signs them
//   owner              the EtcdCluster as theirs; render: the parts as they should be
import { ETCD_CLUSTER_LEASE, ETCD_CLUSTERS } from '../../shared/api/etcd-cluster.ts';
import { openEtcdAdmin } from '../../shared/etcd/admin.ts';
import { defineStateful } from '../../shared/stateful/define.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

export const etcdCluster = defineStateful({
  name: 'etcd-cluster',
  purpose: 'Keeps etcd clusters right: one birth, members one at a time, never without a quorum.',
  fieldManager: FIELD_MANAGER,
  lease: ETCD_CLUSTER_LEASE,
  owner: { ...ETCD_CLUSTERS, kind: 'EtcdCluster' },
  hasLastingParts: true,
  open: (options, _, metrics) => new Deps({ ...options, openAdmin: openEtcdAdmin, metrics }),
  load: () => import('./reconciler.ts'),
});
