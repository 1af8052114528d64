// The rights that the manifests give each account, and those that it used.
import type { ClusterObject } from '../../../knative/try/local/manifests/wiring.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import type { AuditedRequest } from './installed.ts';

/** One verb on one resource for one account. */
export interface Grant {
  readonly account: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Empty: in all of them. */
  readonly namespace: string;
  /** Empty: any. */
  readonly names: readonly string[];
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Binding {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly name: string }[];
}

type RbacObject = Manifest | ClusterObject['object'];

export function grantsIn(objects: readonly RbacObject[]): readonly Grant[] {
  return objects
    .filter(({ kind }) => kind === 'RoleBinding' || kind === 'ClusterRoleBinding')
    .flatMap((object) => {
      const { roleRef, subjects } = object as unknown as Binding;
      const { namespace = '' } = object.metadata;
      const role = objects.find(
        ({ kind, metadata }) =>
          kind === roleRef.kind &&
          metadata.name === roleRef.name &&
          (kind === 'ClusterRole' || metadata.namespace === namespace),
      );
      const { rules } = role as unknown as { readonly rules: readonly Rule[] };
      return subjects.flatMap(({ name: account }) =>
        rules.flatMap((rule) => grantsOf(rule).map((grant) => ({ ...grant, account, namespace }))),
      );
    });
}

const grantsOf = ({ apiGroups, resources, resourceNames: names = [], verbs }: Rule) =>
  apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb, names }))),
  );

export const covers = (grant: Grant, requests: AuditedRequest): boolean =>
  grant.account === requests.account &&
  grant.verb === requests.verb &&
  grant.group === requests.group &&
  grant.resource === requests.resource &&
  ['', requests.namespace].includes(grant.namespace) &&
  (grant.names.length === 0 || grant.names.includes(requests.name));

/** `metadata: list apps/deployments`, with the namespace where it is of one. */
export const told = ({
  account,
  verb,
  group,
  resource,
  namespace,
}: Pick<Grant, 'account' | 'verb' | 'group' | 'resource' | 'namespace'>): string =>
  `${account}: ${verb} ${group}/${resource}${namespace === '' ? '' : ` in ${namespace}`}`;

/** A role as it was before there was such a kind. */
export function roleBefore(resource: string, object: Manifest): Manifest {
  const { rules } = object as { readonly rules?: readonly { readonly resources: string[] }[] };
  if (rules === undefined) return object;
  return { ...object, rules: rules.filter((one) => !one.resources.includes(resource)) };
}
