// Rights that an administrator grants to `etcd-cluster` in a namespace that has EtcdClusters, with
// a guard over these.
import { claimName, headlessName, podName } from '../../../shared/api/etcd-names.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { ETCD_GUARD, guard } from './guard.ts';
import { granted, narrowed, rule, type Rule } from './manifests.ts';

const ETCD_CLUSTER = 'etcd-cluster';
/** The most members that there can be: a certificate names so many. */
const PLACES = 16;
/** Secrets that the function makes. */
const OWN_SECRETS = ['tls', 'client', 'clients-ca', 'peers-ca', 'root', 'starts'];

const NAMESPACE_RULES: readonly Rule[] = [
  rule('', 'secrets', ['create', 'get', 'patch']),
  rule('', 'services', ['create', 'get', 'patch']),
  rule('policy', 'poddisruptionbudgets', ['create', 'get', 'patch']),
  rule('networking.k8s.io', 'networkpolicies', ['create', 'get', 'patch']),
  // Members come and go, and get another spec one at a time.
  rule('ballast.dev', 'etcdpeers', ['create', 'delete', 'get', 'list', 'patch']),
  // Whether the newest good backup is as new as was promised.
  rule('ballast.dev', 'etcdbackupschedules', ['list']),
  // One member at a time is restarted.
  rule('', 'pods', ['delete', 'list']),
  // Claims are marked with the cluster of their data, and go with a member that was taken away.
  rule('', 'persistentvolumeclaims', ['delete', 'list', 'patch']),
  // Says on the EtcdCluster what was done, and what is told of a claim that gets no volume.
  rule('', 'events', ['create', 'get', 'list']),
];

/** The one cluster that is meant, the Secrets that its spec names, and users whose it makes. */
export interface OneEtcdCluster {
  readonly name: string;
  readonly secrets: readonly string[];
  /** Those who have no passwordSecret. */
  readonly users: readonly string[];
}

/** `only` undefined: for every EtcdCluster that the namespace has or gets. */
export function etcdClusterRights(namespace: string, only?: OneEtcdCluster): readonly Manifest[] {
  const name = `ballast-etcd-cluster${only === undefined ? '' : `.${only.name}`}`;
  const rules = only === undefined ? NAMESPACE_RULES : rulesFor(only);
  return [...granted(ETCD_CLUSTER, { namespace, name }, rules), ...guard(ETCD_GUARD, namespace)];
}

/** The same by name: RBAC knows no labels, and what is listed or created has no name for it. */
function rulesFor({ name, secrets, users }: OneEtcdCluster): readonly Rule[] {
  const peers = Array.from({ length: PLACES }, (_, ordinal) => `${name}-${ordinal}`);
  const rules = narrowed(NAMESPACE_RULES, {
    secrets: [...OWN_SECRETS, ...users.map((user) => `user-${user}`)].map(
      (suffix) => `${name}-${suffix}`,
    ),
    services: [name, headlessName(name)],
    poddisruptionbudgets: [name],
    networkpolicies: [name],
    etcdpeers: peers,
    pods: peers.map(podName),
    persistentvolumeclaims: peers.map(claimName),
  });
  const ofUser = { ...rule('', 'secrets', ['get']), resourceNames: secrets };
  // An empty list of names would mean all of them.
  return secrets.length === 0 ? rules : [...rules, ofUser];
}
