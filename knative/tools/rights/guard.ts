// Guards over objects whose servers hold data: deleting their definition, or the namespace of the
// installation, would end the servers with it. One that looks in a version which is not served sees
// no object and says nothing, so there is one for each version of our kinds.
import type { Manifest } from '../../../shared/kube/objects.ts';
import {
  apiVersionOf,
  VERSIONS,
  type Version,
  WRITTEN,
} from '../../../shared/kube/own-kinds/versions.ts';

/** Where the installation is, and the accounts of its functions. */
export const SYSTEM = 'ballast-system';

export const labelsOf = (name: string) => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/part-of': 'ballast',
});

interface Guarded {
  readonly functionName: string;
  readonly kind: string;
  /** Its definition, and those without which its servers end, too. */
  readonly definitions: readonly [string, ...string[]];
  /** As people call what would end. */
  readonly servers: string;
}

export const NATS_GUARD: Guarded = {
  functionName: 'nats-cluster',
  kind: 'NatsCluster',
  definitions: ['natsclusters.ballast.dev'],
  servers: 'servers',
};

export const ETCD_GUARD: Guarded = {
  functionName: 'etcd-cluster',
  kind: 'EtcdCluster',
  definitions: ['etcdclusters.ballast.dev', 'etcdpeers.ballast.dev'],
  servers: 'members',
};

/** The policies, and their bindings for a namespace that has such objects. */
export const guard = (guarded: Guarded, namespace: string): readonly Manifest[] =>
  VERSIONS.flatMap((version) => [policy(guarded, version), binding(guarded, version, namespace)]);

const nameOf = ({ functionName }: Guarded, version: Version): string =>
  `ballast-${functionName}-guard${version === WRITTEN ? '' : `-${version}`}`;

/**
 * It is no part of the installation, since it would be deleted in the same breath. `Ignore`:
 * without the definition nothing is left to be guarded, and without the version the others guard.
 */
function policy(guarded: Guarded, version: Version): Manifest {
  const rules = [
    ['apiextensions.k8s.io', 'customresourcedefinitions'],
    ['', 'namespaces'],
  ].map(([group, resource]) => ({
    apiGroups: [group],
    apiVersions: ['v1'],
    resources: [resource],
    operations: ['DELETE'],
  }));
  const { functionName, kind, definitions, servers } = guarded;
  const plural = `${kind.replaceAll(/(?!^)([A-Z])/g, '-$1').toLowerCase()}s`;
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: nameOf(guarded, version), labels: labelsOf(functionName) },
    spec: {
      failurePolicy: 'Ignore',
      paramKind: { apiVersion: apiVersionOf(version), kind },
      matchConstraints: { resourceRules: rules },
      matchConditions: [
        {
          name: `ends-${plural}`,
          expression:
            `oldObject.metadata.name in ${listOf(definitions)} || ` +
            `(oldObject.metadata.name == '${SYSTEM}' && params.metadata.namespace == '${SYSTEM}')`,
        },
      ],
      validations: [
        {
          expression: 'false',
          messageExpression:
            `'${kind} ' + params.metadata.namespace + '/' + params.metadata.name + ' is ` +
            `still there, and would end with it, ${servers} and all. To keep it, leave this one; ` +
            `the rest of the installation may go. If it is to end: kubectl delete ` +
            `${kind.toLowerCase()} -n ' + params.metadata.namespace + ' ' + ` +
            "params.metadata.name + ', and then this again.'",
        },
      ],
    },
  };
}

const listOf = (names: readonly string[]): string =>
  `[${names.map((name) => `'${name}'`).join(', ')}]`;

const binding = (guarded: Guarded, version: Version, namespace: string): Manifest => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: {
    name: `${nameOf(guarded, version)}.${namespace}`,
    labels: labelsOf(guarded.functionName),
  },
  spec: {
    policyName: nameOf(guarded, version),
    // Each one of the namespace; without any there is nothing to lose.
    paramRef: { namespace, selector: {}, parameterNotFoundAction: 'Allow' },
    validationActions: ['Deny'],
  },
});
