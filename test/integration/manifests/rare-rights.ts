// Rights that the scenarios of the rights' test do not use, and who does.

export const RARE: Readonly<Record<string, string>> = {
  // A killed function announces again what is announced already: integration/migration/killed.
  'storage-migration: get /events in default': 'killed just after a write',
  // One that died before it heard of its Event finds it: unit/nats-cluster/simulation.
  'nats-cluster: get /events in default': 'died just after a write',
  'etcd-peer: get /events in default': 'died just after a write',
  'etcd-backup: get /events in default': 'died just after a write',
  'etcd-restore: get /events in default': 'died just after a write',
  'takeover: get /events in left': 'died just after a write',
  'etcd-cluster: get /events in etcds': 'died just after a write',
  'etcd-cluster: get ballast.dev/etcdpeers in etcds': 'died just after a write',
};
