// The one table of the real binaries: where each comes from, at which version, how it is built, and
// which versions found on PATH stand in for it. A test holds the versions against the go.mod files.

export type PartName =
  | 'etcd'
  | 'etcdctl'
  | 'etcdutl'
  | 'kube-apiserver'
  | 'kubectl'
  | 'nats-server'
  | 'nats-server-previous'
  | 'apiserver_receive_adapter'
  | 'kwok'
  | 'kube-controller-manager';

/**
 * The Go modules beside this file: the versions that Kubernetes, Knative and etcd want clash in a
 * single one.
 */
export type PartGroup =
  | 'etcd'
  | 'etcd-tools'
  | 'kubernetes'
  | 'nats'
  | 'nats-previous'
  | 'eventing'
  | 'kwok'
  | 'kube-controller-manager';

export interface PartEntry {
  /** Also the name of the binary. */
  readonly name: PartName;
  readonly group: PartGroup;
  /** The main package, and the module whose version is the part's. */
  readonly package: string;
  readonly module: string;
  readonly version: string;
  /** What the binary cannot know by itself, handed to the linker as `-X`. */
  readonly stamps: Readonly<Record<string, string>>;
  /** Undefined when the binary cannot tell its version; it is then never taken from PATH. */
  readonly versionArgs?: readonly string[];
  /** How many minor versions a binary on PATH may be away. */
  readonly minorSkew: 0 | 1;
  /** True for what KUBEBUILDER_ASSETS is known to hold. */
  readonly isKubebuilderAsset: boolean;
  /** True for what only tests run: `npm start` neither looks for it nor builds it. */
  readonly isForTests?: boolean;
}

const KUBERNETES_VERSION = 'v1.36.3';
const ETCD_VERSION = 'v3.6.8';
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

const etcdTool = {
  group: 'etcd-tools',
  version: ETCD_VERSION,
  stamps: {},
  versionArgs: ['version'],
  minorSkew: 0,
  isKubebuilderAsset: false,
  isForTests: true,
} as const;

/**
 * In the order in which they are built: the quick ones first, so that something is seen to get
 * done.
 */
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
    isForTests: true,
  },
  {
    name: 'etcd',
    group: 'etcd',
    package: 'go.etcd.io/etcd/server/v3',
    module: 'go.etcd.io/etcd/server/v3',
    version: ETCD_VERSION,
    stamps: {},
    versionArgs: ['--version'],
    minorSkew: 0,
    isKubebuilderAsset: true,
  },
  {
    ...etcdTool,
    name: 'etcdctl',
    package: 'go.etcd.io/etcd/etcdctl/v3',
    module: 'go.etcd.io/etcd/etcdctl/v3',
  },
  {
    ...etcdTool,
    name: 'etcdutl',
    package: 'go.etcd.io/etcd/etcdutl/v3',
    module: 'go.etcd.io/etcd/etcdutl/v3',
  },
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
    // What Kubernetes' version skew policy allows a kubectl.
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
    isForTests: true,
  },
];

export const partNames: readonly PartName[] = entries.map((entry) => entry.name);

/** What `npm start` brings up. */
export const startPartNames: readonly PartName[] = entries
  .filter((entry) => entry.isForTests !== true)
  .map((entry) => entry.name);

export function isPartName(name: string): name is PartName {
  return entries.some((entry) => entry.name === name);
}

export function partEntry(name: PartName): PartEntry {
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) throw new Error(`no part is named ${name}`);
  return entry;
}

export function groupEntries(group: PartGroup): readonly PartEntry[] {
  return entries.filter((entry) => entry.group === group);
}

export function buildOrder(names: readonly PartName[]): readonly PartGroup[] {
  const wanted = entries.filter((entry) => names.includes(entry.name));
  return [...new Set(wanted.map((entry) => entry.group))];
}
