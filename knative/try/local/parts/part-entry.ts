// One row of the table of real binaries, and the names that rows go by.

export type PartName =
  | 'etcd'
  | 'etcd-previous'
  | 'etcd-next'
  | 'etcd-3-4'
  | 'etcd-3-3'
  | 'etcdctl'
  | 'etcdutl'
  | 'etcdutl-previous'
  | 'etcdutl-next'
  | 'kube-apiserver'
  | 'kubectl'
  | 'nats-server'
  | 'nats-server-previous'
  | 'nats-server-2-1'
  | 'apiserver_receive_adapter'
  | 'porcupine-check'
  | 'prometheus'
  | 'promtool'
  | 'helm'
  | 'feed-reader'
  | 'versitygw'
  | 'kwok'
  | 'kube-controller-manager'
  | KnativePartName
  | 'kube-scheduler'
  | 'kube-proxy'
  | 'kubelet'
  | 'containerd'
  | 'containerd-shim-runc-v2'
  | 'ctr'
  | 'bridge'
  | 'host-local'
  | 'loopback'
  | 'portmap'
  | 'coredns'
  | 'pause';

export type KnativePartName =
  | 'eventing-controller'
  | 'eventing-webhook'
  | 'pingsource-mt-adapter'
  | 'mt-broker-controller'
  | 'mt-broker-ingress'
  | 'mt-broker-filter'
  | 'imc-controller'
  | 'imc-dispatcher'
  | 'auth-proxy'
  | 'serving-controller'
  | 'serving-webhook'
  | 'activator'
  | 'autoscaler'
  | 'queue-proxy'
  | 'kourier'
  | 'kn';

/**
 * The Go modules beside this file, and the example of a reader in docs/example-go: the versions
 * that Kubernetes, Knative and etcd want clash in a single one.
 */
export type PartGroup =
  | 'etcd'
  | 'etcd-previous'
  | 'etcd-next'
  | 'etcd-3-4'
  | 'etcd-3-3'
  | 'etcd-tools'
  | 'etcd-tools-previous'
  | 'etcd-tools-next'
  | 'porcupine'
  | 'feed-reader'
  | 'versitygw'
  | 'prometheus'
  | 'helm'
  | 'kubernetes'
  | 'nats'
  | 'nats-previous'
  | 'nats-2-1'
  | 'eventing'
  | 'kwok'
  | 'kube-controller-manager'
  | KnativePartGroup
  | 'kubernetes-node'
  | 'containerd'
  | 'cni'
  | 'coredns'
  | 'pause';

export type KnativePartGroup = 'knative-eventing' | 'knative-serving' | 'knative-kourier' | 'kn';

export interface PartEntry {
  /** Also the name of the binary. */
  readonly name: PartName;
  readonly group: PartGroup;
  /** The main package, and the module whose version is the part's. */
  readonly package: string;
  readonly module: string;
  readonly version: string;
  /** The version of the module, where that is no version of the binary. */
  readonly pin?: string;
  /** Values that the binary cannot know by itself, for the linker's `-X`. */
  readonly stamps: Readonly<Record<string, string>>;
  /** Undefined when the binary cannot tell its version; it is then never taken from PATH. */
  readonly versionArgs?: readonly string[];
  /** How many minor versions a binary on PATH may be away. */
  readonly minorSkew: 0 | 1;
  /** True for what KUBEBUILDER_ASSETS is known to hold. */
  readonly isKubebuilderAsset: boolean;
  /** For whom it is; nobody else looks for it or builds it. `npm start` when absent. */
  readonly user?: 'tests' | 'cluster' | 'knative';
  /** Build tags that leave out what nobody here uses. */
  readonly tags?: readonly string[];
}
