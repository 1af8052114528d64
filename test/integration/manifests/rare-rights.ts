// Rights that a scenario whose rights are held against its requests does not use, and who does.

/** Nobody answers in that scenario; there they are held against the audit log, too. */
const CARRIED_OUT = 'carried out by integration/takeover/carried-out';
/** An etcd is carried out in `shop`, and no NATS. */
const NATS_CARRIED_OUT = 'carried out by integration/takeover/nats-carried-out';

/** One of aenix's operator, in a place of its own. */
const AENIX_CARRIED_OUT = 'carried out by integration/takeover/aenix-carried-out';

/** A verb of our own, which no request has: the policy asks whether it was granted. */
const OF_POLICY = 'asked for by ValidatingAdmissionPolicy ballast-takeover';

/** Nothing of its operator is there. */
const OF_IMPROBABLE = 'carried out by integration/takeover/improbable-carried-out';

export const RARE: Readonly<Record<string, string>> = {
  // A killed function announces again what is announced already: integration/migration/killed.
  'storage-migration: get /events in default': 'killed just after a write',
  // One that died before it heard of its Event finds it: unit/nats-cluster/simulation.
  'nats-cluster: get /events in default': 'died just after a write',
  'etcd-peer: get /events in default': 'died just after a write',
  'etcd-backup: get /events in default': 'died just after a write',
  'etcd-restore: get /events in default': 'died just after a write',
  'takeover: get /events in left': 'died just after a write',
  'takeover: get /events in shop': 'died just after a write',
  'takeover: delete etcd.database.coreos.com/etcdclusters in left': CARRIED_OUT,
  'takeover: patch /services in left': CARRIED_OUT,
  'takeover: create /persistentvolumeclaims in left': CARRIED_OUT,
  'takeover: delete /persistentvolumeclaims in left': CARRIED_OUT,
  'takeover: patch /persistentvolumeclaims in left': CARRIED_OUT,
  'takeover: patch apps/deployments in left': CARRIED_OUT,
  'takeover: create ballast.dev/etcdbackups in left': CARRIED_OUT,
  'takeover: delete ballast.dev/etcdbackups in left': CARRIED_OUT,
  'takeover: get ballast.dev/etcdbackups in left': CARRIED_OUT,
  'takeover: create ballast.dev/etcdrestores in left': CARRIED_OUT,
  'takeover: delete ballast.dev/etcdrestores in left': CARRIED_OUT,
  'takeover: get ballast.dev/etcdrestores in left': CARRIED_OUT,
  'takeover: delete ballast.dev/etcdclusters in left': CARRIED_OUT,
  'takeover: patch apps/deployments in operators': CARRIED_OUT,
  'takeover: make ballast.dev/etcdclusters in left': OF_POLICY,
  'takeover: make ballast.dev/etcdclusters in shop': OF_POLICY,
  'takeover: delete etcd.aenix.io/etcdclusters in left': AENIX_CARRIED_OUT,
  'takeover: get etcd.aenix.io/etcdclusters in left': AENIX_CARRIED_OUT,
  'takeover: delete etcd.aenix.io/etcdclusters in shop': AENIX_CARRIED_OUT,
  'takeover: get etcd.aenix.io/etcdclusters in shop': AENIX_CARRIED_OUT,
  'takeover: get etcd.improbable.io/etcdclusters in left': OF_IMPROBABLE,
  'takeover: get etcd.improbable.io/etcdclusters in shop': OF_IMPROBABLE,
  'takeover: delete etcd.improbable.io/etcdclusters in left': OF_IMPROBABLE,
  'takeover: delete etcd.improbable.io/etcdclusters in shop': OF_IMPROBABLE,
  'takeover: patch etcd.improbable.io/etcdpeers in left': OF_IMPROBABLE,
  'takeover: patch etcd.improbable.io/etcdpeers in shop': OF_IMPROBABLE,
  'takeover: list etcd.improbable.io/etcdpeers in left': OF_IMPROBABLE,
  'takeover: list etcd.improbable.io/etcdpeers in shop': OF_IMPROBABLE,
  'takeover: list apps/replicasets in left': OF_IMPROBABLE,
  'takeover: list apps/replicasets in shop': OF_IMPROBABLE,
  'takeover: delete /pods in left': NATS_CARRIED_OUT,
  'takeover: create /secrets in left': NATS_CARRIED_OUT,
  'takeover: delete nats.io/natsclusters in left': NATS_CARRIED_OUT,
  'takeover: delete ballast.dev/natsclusters in left': NATS_CARRIED_OUT,
  'takeover: patch ballast.dev/natsclusters in left': NATS_CARRIED_OUT,
  'takeover: delete /pods in shop': NATS_CARRIED_OUT,
  'takeover: create /secrets in shop': NATS_CARRIED_OUT,
  'takeover: delete nats.io/natsclusters in shop': NATS_CARRIED_OUT,
  'takeover: get nats.io/natsclusters in shop': NATS_CARRIED_OUT,
  'takeover: create ballast.dev/natsclusters in shop': NATS_CARRIED_OUT,
  'takeover: delete ballast.dev/natsclusters in shop': NATS_CARRIED_OUT,
  'takeover: get ballast.dev/natsclusters in shop': NATS_CARRIED_OUT,
  'takeover: patch ballast.dev/natsclusters in shop': NATS_CARRIED_OUT,
  'etcd-cluster: get /events in etcds': 'died just after a write',
  'etcd-cluster: get ballast.dev/etcdpeers in etcds': 'died just after a write',
};
