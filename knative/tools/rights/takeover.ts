// Rights that an administrator grants to `takeover` in a namespace with an old cluster, on Secrets
// by name alone, and on the Deployment of an operator that is elsewhere.
import type { Manifest } from '../../../shared/kube/objects.ts';
import { granted, rule, type Rule } from './manifests.ts';

const TAKEOVER = 'takeover';
const NAME = 'ballast-takeover';

/** It changes nothing there: an EtcdCluster is only asked for, as a dry run. */
const NAMESPACE_RULES: readonly Rule[] = [
  rule('etcd.database.coreos.com', 'etcdclusters', ['get']),
  rule('', 'pods', ['list']),
  rule('', 'services', ['get']),
  rule('', 'persistentvolumeclaims', ['get', 'list']),
  // That of the operator, by its image.
  rule('apps', 'deployments', ['list']),
  // How the new one would be stored, and whether its names are free.
  rule('ballast.dev', 'etcdclusters', ['create', 'get']),
  rule('ballast.dev', 'etcdpeers', ['get']),
  rule('apps', 'statefulsets', ['get']),
  // Says on the Takeover what needs a person.
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
): readonly Manifest[] {
  const ofUser = { ...rule('', 'secrets', ['get']), resourceNames: secrets };
  // An empty list of names would mean all of them.
  const rules = secrets.length === 0 ? NAMESPACE_RULES : [...NAMESPACE_RULES, ofUser];
  const own = granted(TAKEOVER, { namespace, name: NAME }, rules);
  if (operator === undefined) return own;
  const place = { namespace: operator.namespace, name: `${NAME}.${operator.name}` };
  const itsRule = { ...rule('apps', 'deployments', ['get']), resourceNames: [operator.name] };
  return [...own, ...granted(TAKEOVER, place, [itsRule])];
}
