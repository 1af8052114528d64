// The one table of the real binaries: where each comes from, at which version, how it is built, and
// which versions found on PATH stand in for it. A test holds the versions against the go.mod files.
import { knativeEntries } from './knative-entries.ts';
import { legacyEntries } from './legacy-entries.ts';
import type { PartEntry, PartGroup, PartName } from './part-entry.ts';
import { testEntries } from './test-entries.ts';

const KUBERNETES_VERSION = 'v1.36.3';
const ETCD_VERSION = 'v3.6.16';
const ETCD_PREVIOUS_VERSION = 'v3.5.35';
const ETCD_NEXT_VERSION = 'v3.7.3';
const KWOK_VERSION = 'v0.8.0';
const COMPONENT_VERSION = 'k8s.io/component-base/version';
const kubernetes = {
  group: 'kubernetes',
  module: 'k8s.io/kubernetes',
  version: KUBERNETES_VERSION,
  // Unstamped, the API server calls itself v0.0.0-master and clients that ask its version refuse
  // it.
  stamps: {
    [`${COMPONENT_VERSION}.gitVersion`]: KUBERNETES_VERSION,
    [`${COMPONENT_VERSION}.gitMajor`]: '1',
    [`${COMPONENT_VERSION}.gitMinor`]: '36',
  },
  isKubebuilderAsset: true,
} as const;

const etcd = {
  package: 'go.etcd.io/etcd/server/v3',
  module: 'go.etcd.io/etcd/server/v3',
  stamps: {},
  versionArgs: ['--version'],
  minorSkew: 0,
} as const;

/**
 * The minors before and after: from where clusters come, and where they go. `npm run cluster` has
 * the later one, too.
 */
const otherEtcd = { ...etcd, isKubebuilderAsset: false, user: 'tests' } as const;

const etcdTool = {
  group: 'etcd-tools',
  version: ETCD_VERSION,
  stamps: {},
  versionArgs: ['version'],
  minorSkew: 0,
  isKubebuilderAsset: false,
  user: 'tests',
} as const;

const etcdutl = {
  ...etcdTool,
  package: 'go.etcd.io/etcd/etcdutl/v3',
  module: 'go.etcd.io/etcd/etcdutl/v3',
} as const;

const CONTAINERD = 'github.com/containerd/containerd/v2';
const CNI = 'github.com/containernetworking/plugins';

/** Parts of a node; taken as built, or as somebody has put them into a directory. */
const ofCluster = {
  stamps: {},
  minorSkew: 0,
  isKubebuilderAsset: false,
  user: 'cluster',
} as const;

const containerd = {
  ...ofCluster,
  group: 'containerd',
  module: CONTAINERD,
  version: 'v2.4.2',
  stamps: { [`${CONTAINERD}/version.Version`]: 'v2.4.2' },
  tags: ['no_btrfs', 'no_zfs', 'no_devmapper'],
} as const;

const cni = { ...ofCluster, group: 'cni', module: CNI, version: 'v1.9.1' } as const;

const kubernetesNode = {
  ...kubernetes,
  ...ofCluster,
  stamps: kubernetes.stamps,
  group: 'kubernetes-node',
  versionArgs: ['--version'],
} as const;

/** In the order in which they are built: the quick ones first, so that something is seen done. */
const entries: readonly PartEntry[] = [
  {
    name: 'nats-server',
    group: 'nats',
    package: 'github.com/nats-io/nats-server/v2',
    module: 'github.com/nats-io/nats-server/v2',
    version: 'v2.15.2',
    stamps: {},
    versionArgs: ['--version'],
    minorSkew: 0,
    isKubebuilderAsset: false,
  },
  {
    // The minor before: what a rolling upgrade starts from.
    name: 'nats-server-previous',
    group: 'nats-previous',
    package: 'github.com/nats-io/nats-server/v2',
    module: 'github.com/nats-io/nats-server/v2',
    version: 'v2.14.9',
    stamps: {},
    versionArgs: ['--version'],
    minorSkew: 0,
    isKubebuilderAsset: false,
    user: 'tests',
  },
  {
    ...etcd,
    name: 'etcd',
    group: 'etcd',
    version: ETCD_VERSION,
    isKubebuilderAsset: true,
  },
  { ...otherEtcd, name: 'etcd-previous', group: 'etcd-previous', version: ETCD_PREVIOUS_VERSION },
  { ...otherEtcd, name: 'etcd-next', group: 'etcd-next', version: ETCD_NEXT_VERSION },
  ...legacyEntries,
  {
    ...etcdTool,
    name: 'etcdctl',
    package: 'go.etcd.io/etcd/etcdctl/v3',
    module: 'go.etcd.io/etcd/etcdctl/v3',
  },
  { ...etcdutl, name: 'etcdutl' },
  {
    ...etcdutl,
    name: 'etcdutl-previous',
    group: 'etcd-tools-previous',
    version: ETCD_PREVIOUS_VERSION,
  },
  { ...etcdutl, name: 'etcdutl-next', group: 'etcd-tools-next', version: ETCD_NEXT_VERSION },
  ...testEntries,
  {
    name: 'kwok',
    group: 'kwok',
    package: 'sigs.k8s.io/kwok/cmd/kwok',
    module: 'sigs.k8s.io/kwok',
    version: KWOK_VERSION,
    stamps: { 'sigs.k8s.io/kwok/pkg/consts.Version': KWOK_VERSION },
    versionArgs: ['--version'],
    minorSkew: 0,
    isKubebuilderAsset: false,
  },
  {
    name: 'apiserver_receive_adapter',
    group: 'eventing',
    package: 'knative.dev/eventing/cmd/apiserver_receive_adapter',
    module: 'knative.dev/eventing',
    version: 'v0.50.0',
    stamps: {},
    minorSkew: 0,
    isKubebuilderAsset: false,
  },
  {
    ...kubernetes,
    name: 'kube-apiserver',
    package: 'k8s.io/kubernetes/cmd/kube-apiserver',
    versionArgs: ['--version'],
    minorSkew: 0,
  },
  {
    ...kubernetes,
    name: 'kubectl',
    package: 'k8s.io/kubernetes/cmd/kubectl',
    versionArgs: ['version', '--client'],
    // Kubernetes' version skew policy allows a kubectl this.
    minorSkew: 1,
  },
  {
    ...kubernetes,
    name: 'kube-controller-manager',
    // A group of its own, so that it is built only for those who want it; built last, it finds most
    // of what it is made of compiled for the API server.
    group: 'kube-controller-manager',
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    versionArgs: ['--version'],
    minorSkew: 0,
    isKubebuilderAsset: false,
    user: 'tests',
  },
  {
    ...ofCluster,
    name: 'pause',
    group: 'pause',
    package: 'ballast.dev/parts/pause',
    module: 'ballast.dev/parts/pause',
    version: 'v1.0.0',
  },
  { ...cni, name: 'bridge', package: `${CNI}/plugins/main/bridge` },
  { ...cni, name: 'host-local', package: `${CNI}/plugins/ipam/host-local` },
  { ...cni, name: 'loopback', package: `${CNI}/plugins/main/loopback` },
  { ...cni, name: 'portmap', package: `${CNI}/plugins/meta/portmap` },
  {
    ...containerd,
    name: 'containerd',
    package: `${CONTAINERD}/cmd/containerd`,
    versionArgs: ['--version'],
  },
  {
    ...containerd,
    name: 'containerd-shim-runc-v2',
    package: `${CONTAINERD}/cmd/containerd-shim-runc-v2`,
    versionArgs: ['-v'],
  },
  { ...containerd, name: 'ctr', package: `${CONTAINERD}/cmd/ctr`, versionArgs: ['--version'] },
  { ...kubernetesNode, name: 'kube-scheduler', package: 'k8s.io/kubernetes/cmd/kube-scheduler' },
  { ...kubernetesNode, name: 'kube-proxy', package: 'k8s.io/kubernetes/cmd/kube-proxy' },
  { ...kubernetesNode, name: 'kubelet', package: 'k8s.io/kubernetes/cmd/kubelet' },
  {
    ...ofCluster,
    name: 'coredns',
    group: 'coredns',
    // A main of our own: the one of theirs has the plugins for every cloud, and is twice as large.
    package: 'ballast.dev/parts/coredns',
    module: 'github.com/coredns/coredns',
    version: 'v1.15.0',
    versionArgs: ['--version'],
  },
  ...knativeEntries,
];

const namesFor = (...users: readonly PartEntry['user'][]): readonly PartName[] =>
  entries.filter(({ user }) => users.includes(user)).map(({ name }) => name);

export const partNames: readonly PartName[] = entries.map((entry) => entry.name);

/** Parts for the tests on the local control plane. */
export const planePartNames: readonly PartName[] = namesFor(undefined, 'tests');

/** Parts of a node, beside the control plane's own. */
export const nodePartNames: readonly PartName[] = namesFor('cluster');

/** Parts of Knative on such a machine, and the command for it. */
export const knativePartNames: readonly PartName[] = namesFor('knative');

/** Parts for `npm start`. */
export const startPartNames: readonly PartName[] = namesFor(undefined);

export const isPartName = (name: string): name is PartName =>
  entries.some((entry) => entry.name === name);

export const isGroup = (name: string): name is PartGroup =>
  entries.some(({ group }) => group === name);

export function partEntry(name: PartName): PartEntry {
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) throw new Error(`no part is named ${name}`);
  return entry;
}

export const groupEntries = (group: PartGroup): readonly PartEntry[] =>
  entries.filter((entry) => entry.group === group);

export function buildOrder(names: readonly PartName[]): readonly PartGroup[] {
  const wanted = entries.filter(({ name }) => names.includes(name));
  return [...new Set(wanted.map(({ group }) => group))];
}
