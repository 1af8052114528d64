// Rights that an administrator grants to functions where they are needed, and nowhere else: those
// of `nats-cluster` in a namespace that has NatsClusters, with a guard over these, and those of
// `metadata` on a Secret that a MetadataFeed names.
import type { Manifest } from '../../../shared/kube/objects.ts';

const RBAC = 'rbac.authorization.k8s.io';
const SYSTEM = 'ballast-system';
const NATS_CLUSTER = 'nats-cluster';
const METADATA = 'metadata';
/** The most servers of a NatsCluster: spec.replicas, and those that are leaving. */
const SERVERS_MAX = 9;
/** Secrets that the function makes, beside those of users whom the spec names. */
const OWN_SECRETS = ['config', 'system', 'user', 'tls'];

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const labelsOf = (name: string) => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/part-of': 'ballast',
});

const rule = (group: string, resource: string, verbs: readonly string[]): Rule => ({
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
  return [
    ...granted(NATS_CLUSTER, { namespace, name }, rules),
    guardPolicy(),
    guardBinding(namespace),
  ];
}

export const secretRights = (secret: string): readonly Manifest[] =>
  granted(METADATA, { namespace: SYSTEM, name: `ballast-metadata.${secret}` }, [
    // Held by a watch of its own, so that a new password is used at once.
    { ...rule('', 'secrets', ['get', 'watch']), resourceNames: [secret] },
  ]);

function granted(
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
  const rules = NAMESPACE_RULES.flatMap((wide) => {
    const resourceNames = names[wide.resources[0] ?? ''];
    if (resourceNames === undefined) return [wide];
    const isNameless = (verb: string): boolean => verb === 'create' || verb === 'list';
    const nameless = wide.verbs.filter(isNameless);
    const named = wide.verbs.filter((verb) => !isNameless(verb));
    return [
      { ...wide, resourceNames, verbs: named },
      { ...wide, verbs: nameless },
    ];
  });
  // An empty list of names would mean all of them.
  return secrets.length === 0 ? rules : [...rules, ofUser];
}

const GUARD = 'ballast-nats-cluster-guard';

/**
 * Deleting the definition, or the namespace of the installation, would end the servers with it. The
 * guard is no part of the installation, since it would be deleted in the same breath. `Ignore`:
 * without the definition nothing is left to be guarded.
 */
function guardPolicy(): Manifest {
  const rules = [
    ['apiextensions.k8s.io', 'customresourcedefinitions'],
    ['', 'namespaces'],
  ].map(([group, resource]) => ({
    apiGroups: [group],
    apiVersions: ['v1'],
    resources: [resource],
    operations: ['DELETE'],
  }));
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: GUARD, labels: labelsOf(NATS_CLUSTER) },
    spec: {
      failurePolicy: 'Ignore',
      paramKind: { apiVersion: 'ballast.dev/v1alpha1', kind: 'NatsCluster' },
      matchConstraints: { resourceRules: rules },
      matchConditions: [
        {
          name: 'ends-nats-clusters',
          expression:
            "oldObject.metadata.name == 'natsclusters.ballast.dev' || " +
            `(oldObject.metadata.name == '${SYSTEM}' && params.metadata.namespace == '${SYSTEM}')`,
        },
      ],
      validations: [
        {
          expression: 'false',
          messageExpression:
            "'NatsCluster ' + params.metadata.namespace + '/' + params.metadata.name + ' is " +
            'still there, and would end with it, servers and all. To keep it, leave this one; ' +
            'the rest of the installation may go. If it is to end: kubectl delete natscluster -n ' +
            "' + params.metadata.namespace + ' ' + params.metadata.name + ', and then this again.'",
        },
      ],
    },
  };
}

const guardBinding = (namespace: string): Manifest => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: `${GUARD}.${namespace}`, labels: labelsOf(NATS_CLUSTER) },
  spec: {
    policyName: GUARD,
    // Each NatsCluster of the namespace; without one there is nothing to lose.
    paramRef: { namespace, selector: {}, parameterNotFoundAction: 'Allow' },
    validationActions: ['Deny'],
  },
});
