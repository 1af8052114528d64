// The rows of servers as clusters of operators that are gone run them.
import type { PartEntry } from './part-entry.ts';

const legacy = {
  stamps: {},
  versionArgs: ['--version'],
  minorSkew: 0,
  isKubebuilderAsset: false,
  user: 'tests',
} as const;

/** In the order in which they are built. */
export const legacyEntries: readonly PartEntry[] = [
  {
    ...legacy,
    name: 'nats-server-2-1',
    group: 'nats-2-1',
    package: 'github.com/nats-io/nats-server/v2',
    module: 'github.com/nats-io/nats-server/v2',
    version: 'v2.1.9',
  },
  {
    ...legacy,
    name: 'etcd-3-4',
    group: 'etcd-3-4',
    package: 'go.etcd.io/etcd',
    module: 'go.etcd.io/etcd',
    version: 'v3.4.13',
    // Its tags are of no form that Go takes for a version of this module.
    pin: 'v0.5.0-alpha.5.0.20200910180754-dd1b699fc489',
  },
  {
    ...legacy,
    name: 'etcd-3-3',
    group: 'etcd-3-3',
    package: 'github.com/coreos/etcd',
    module: 'github.com/coreos/etcd',
    version: 'v3.3.27',
    // It is from before modules.
    pin: 'v3.3.27+incompatible',
  },
];
