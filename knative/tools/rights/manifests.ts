// Rights that an administrator grants to functions where they are needed, and nowhere else: those
// of `nats-cluster` in a namespace that has NatsClusters, with a guard over these, and those of
// `metadata` on a Secret that a MetadataFeed names.
import type { Manifest } from '../../../shared/kube/objects.ts';
import { guard, labelsOf, NATS_GUARD, SYSTEM } from './guard.ts';

const RBAC = 'rbac.authorization.k8s.io';
const NATS_CLUSTER = 'nats-cluster';
const METADATA = 'metadata';
/** The most servers of a NatsCluster: spec.replicas, and those that are leaving. */
const SERVERS_MAX = 9;
/** Secrets that the function makes, beside those of users whom the spec names. */
const OWN_SECRETS = ['config', 'system', 'user', 'tls'];

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export const rule = (group: string, resource: string, verbs: readonly string[]): Rule => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

/** The one cluster that is meant, and the Secrets that its spec names, or does not name. */
export interface OneCluster {
  readonly name: string;
  /** Without passwordSecret: theirs are made. */
  readonly users: readonly string[];
  readonly secrets: readonly string[];
}

/** `only` undefined: for every NatsCluster that the namespace has or gets. */
export function natsClusterRights(namespace: string, only?: OneCluster): readonly Manifest[] {
  const name = `ballast-nats-cluster${only === undefined ? '' : `.${only.name}`}`;
  const rules = only === undefined ? NAMESPACE_RULES : rulesFor(only);
  return [...granted(NATS_CLUSTER, { namespace, name }, rules), ...guard(NATS_GUARD, namespace)];
}

export const secretRights = (secret: string): readonly Manifest[] =>
  granted(METADATA, { namespace: SYSTEM, name: `ballast-metadata.${secret}` }, [
    // Held by a watch of its own, so that a new password is used at once.
    { ...rule('', 'secrets', ['get', 'watch']), resourceNames: [secret] },
  ]);

export function granted(
  account: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  rules: readonly Rule[],
): readonly Manifest[] {
  const metadata = { name, namespace, labels: labelsOf(account) };
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: SYSTEM }],
    },
  ];
}

/** Rights in the namespace, whatever its clusters are called. */
const NAMESPACE_RULES: readonly Rule[] = [
  rule('', 'secrets', ['create', 'get', 'patch']),
  rule('', 'services', ['create', 'get', 'patch']),
  rule('policy', 'poddisruptionbudgets', ['create', 'get', 'patch']),
  rule('networking.k8s.io', 'networkpolicies', ['create', 'get', 'patch']),
  // Deleted only to be made anew around its pods, when claims have grown.
  rule('apps', 'statefulsets', ['create', 'delete', 'get', 'patch']),
  // One server at a time is restarted.
  rule('', 'pods', ['delete', 'list']),
  // Claims grow, and go with a server that was taken away or whose volume is lost.
  rule('', 'persistentvolumeclaims', ['delete', 'list', 'patch']),
  // Says on the NatsCluster what was done, and what is told of a claim that gets no volume.
  rule('', 'events', ['create', 'get', 'list']),
];

/** The same by name: RBAC knows no labels, and what is listed or created has no name for it. */
function rulesFor({ name, users, secrets }: OneCluster): readonly Rule[] {
  const servers = Array.from({ length: SERVERS_MAX }, (_, ordinal) => `${name}-${ordinal}`);
  const names: Readonly<Record<string, readonly string[]>> = {
    secrets: [...OWN_SECRETS, ...users.map((user) => `user-${user}`)].map(
      (suffix) => `${name}-${suffix}`,
    ),
    services: [name, `${name}-headless`],
    poddisruptionbudgets: [name],
    networkpolicies: [name],
    statefulsets: [name],
    pods: servers,
    persistentvolumeclaims: servers.map((server) => `data-${server}`),
  };
  const ofUser = { ...rule('', 'secrets', ['get']), resourceNames: secrets };
  const rules = narrowed(NAMESPACE_RULES, names);
  // An empty list of names would mean all of them.
  return secrets.length === 0 ? rules : [...rules, ofUser];
}

/** By the names of objects, where a verb knows one. */
export function narrowed(
  rules: readonly Rule[],
  names: Readonly<Record<string, readonly string[]>>,
): readonly Rule[] {
  return rules.flatMap((wide) => {
    const resourceNames = names[wide.resources[0] ?? ''];
    if (resourceNames === undefined) return [wide];
    const isNameless = (verb: string): boolean => verb === 'create' || verb === 'list';
    const nameless = wide.verbs.filter(isNameless);
    const named = wide.verbs.filter((verb) => !isNameless(verb));
    return [
      { ...wide, resourceNames, verbs: named },
      ...(nameless.length === 0 ? [] : [{ ...wide, verbs: nameless }]),
    ];
  });
}
