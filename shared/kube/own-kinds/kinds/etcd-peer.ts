// EtcdPeer: it refers to its EtcdCluster, and has the retention of that.
import type { Part } from '../part.ts';
import { compaction } from '../parts/compaction.ts';
import { nested } from '../parts/nested.ts';

export const ETCD_PEER: readonly Part[] = [
  nested(['spec'], { record: 'etcdCluster', fields: { cluster: 'name' } }),
  compaction(['spec', 'compaction']),
];
