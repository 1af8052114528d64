// Rights that an administrator grants to `takeover` in a namespace with an old cluster, on Secrets
// by name alone, on the Deployment of an operator that is elsewhere, on what Helm made of a chart,
// and to make an EtcdCluster of a name.
import type { Manifest } from '../../../shared/kube/objects.ts';
import { granted, rule, type Rule } from './manifests.ts';

const TAKEOVER = 'takeover';
const NAME = 'ballast-takeover';

/** ValidatingAdmissionPolicy ballast-takeover narrows the wide ones. */
const NAMESPACE_RULES: readonly Rule[] = [
  // The last step of a plan that a person has confirmed.
  rule('etcd.database.coreos.com', 'etcdclusters', ['delete', 'get']),
  rule('etcd.aenix.io', 'etcdclusters', ['delete', 'get']),
  rule('nats.io', 'natsclusters', ['delete', 'get']),
  rule('etcd.improbable.io', 'etcdclusters', ['delete', 'get']),
  // An EtcdPeer has a pod of one, and loses the finalizer with which its claim would go.
  rule('etcd.improbable.io', 'etcdpeers', ['list', 'patch']),
  rule('apps', 'replicasets', ['list']),
  // Those of an old NATS leave one after the other.
  rule('', 'pods', ['delete', 'list']),
  // That of the clients is led to the new members.
  rule('', 'services', ['get', 'patch']),
  // Those of old members lose their owner; the snapshot is put on one; those of a new cluster go on
  // rollback.
  rule('', 'persistentvolumeclaims', ['create', 'delete', 'get', 'list', 'patch']),
  // That of the operator, by its image, is scaled.
  rule('apps', 'deployments', ['list', 'patch']),
  // The snapshot, and what is made of it.
  rule('ballast.dev', 'etcdbackups', ['create', 'delete', 'get']),
  rule('ballast.dev', 'etcdrestores', ['create', 'delete', 'get']),
  // How the new one would be stored, and whether its names are free; it goes on rollback. A
  // NatsCluster is made, and routed with the old servers; an EtcdCluster, also by an EtcdRestore,
  // only by its name, below.
  rule('ballast.dev', 'etcdclusters', ['create', 'delete', 'get']),
  rule('ballast.dev', 'natsclusters', ['create', 'delete', 'get', 'patch']),
  // The passwords of its users.
  rule('', 'secrets', ['create']),
  rule('ballast.dev', 'etcdpeers', ['get']),
  rule('apps', 'statefulsets', ['get']),
  // Says on the Takeover what was done, and what needs a person.
  rule('', 'events', ['create', 'get']),
];

/** Where the operator is in another namespace: its Deployment. */
export interface OperatorPlace {
  readonly namespace: string;
  readonly name: string;
}

export function takeoverRights(
  namespace: string,
  secrets: readonly string[] = [],
  operator?: OperatorPlace,
  into: readonly string[] = [],
  charts: readonly string[] = [],
): readonly Manifest[] {
  const rules = [
    ...NAMESPACE_RULES,
    // A verb that the policy alone asks about.
    ...named(rule('ballast.dev', 'etcdclusters', ['make']), into),
    ...named(rule('', 'secrets', ['get']), secrets),
    // The servers of a chart leave one after the other, and it is read what they were told.
    ...named(rule('apps', 'statefulsets', ['delete', 'patch']), charts),
    ...named(
      rule('', 'configmaps', ['get']),
      charts.map((name) => `${name}-config`),
    ),
  ];
  const own = granted(TAKEOVER, { namespace, name: NAME }, rules);
  if (operator === undefined) return own;
  const place = { namespace: operator.namespace, name: `${NAME}.${operator.name}` };
  const itsRule = {
    ...rule('apps', 'deployments', ['get', 'patch']),
    resourceNames: [operator.name],
  };
  return [...own, ...granted(TAKEOVER, place, [itsRule])];
}

/** An empty list of names would mean all of them. */
const named = (one: Rule, resourceNames: readonly string[]): readonly Rule[] =>
  resourceNames.length === 0 ? [] : [{ ...one, resourceNames }];
