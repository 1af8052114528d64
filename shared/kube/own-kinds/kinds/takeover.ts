// Takeover: what the legacy cluster becomes is said as in an EtcdCluster.
import type { Part } from '../part.ts';
import { etcdClusterSpec } from './etcd-cluster.ts';

export const TAKEOVER: readonly Part[] = etcdClusterSpec(['spec', 'into', 'spec']);
