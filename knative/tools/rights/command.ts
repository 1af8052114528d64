// The answer of `npm run rights` to its arguments: what to apply so that a function has its rights
// where they are needed. It changes nothing.
import { stringify } from 'yaml';
import { readArguments, UsageError } from '../../../shared/arguments.ts';
import { OBJECT_NAME } from '../../../shared/kube/object-name.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { etcdBackupRights } from './etcd-backup.ts';
import { etcdClusterRights } from './etcd-cluster.ts';
import { etcdPeerRights } from './etcd-peer.ts';
import { etcdRestoreRights } from './etcd-restore.ts';
import { natsClusterRights, secretRights } from './manifests.ts';
import { takeoverRights } from './takeover.ts';

const OF_TAKEOVER = `\
takeover: what it needs to plan how what an operator left in a namespace is taken over, and to carry
out the plan that you confirm.

  -n, --namespace NAME  where the old cluster and its Takeover are
  --secret NAME         one by which its clients and members know each other; may be repeated
  --operator NS/NAME    the Deployment of the operator, where that is in another namespace
  --into NAME           the EtcdCluster that it may make, or have restored; may be repeated
  --chart NAME          the StatefulSet of a NATS of Helm's chart that it may end; may be repeated`;

export const usageOf = (calledAs: string): string => `\
usage: ${calledAs} nats-cluster -n NAMESPACE [options] | kubectl apply -f -
       ${calledAs} etcd-cluster -n NAMESPACE [options] | kubectl apply -f -
       ${calledAs} etcd-peer -n NAMESPACE [--cluster NAME] | kubectl apply -f -
       ${calledAs} etcd-backup -n NAMESPACE | kubectl apply -f -
       ${calledAs} etcd-restore -n NAMESPACE | kubectl apply -f -
       ${calledAs} takeover -n NAMESPACE [options] | kubectl apply -f -
       ${calledAs} metadata --secret NAME | kubectl apply -f -

nats-cluster: what it needs in a namespace that has NatsClusters, and a guard: as long as one is
there, neither their definition nor, around those of its own, ballast-system is deleted.

  -n, --namespace NAME  where they are
  --cluster NAME        only for the NatsCluster of this name, and no Secret but its own
  --secret NAME         with --cluster: one that its spec names; may be repeated
  --user NAME           with --cluster: one who has no passwordSecret; may be repeated

etcd-cluster: what it needs in a namespace that has EtcdClusters, beside the rights of etcd-peer,
and such a guard over these and over the definition of their members.

  -n, --namespace NAME  where they are
  --cluster NAME        only for the EtcdCluster of this name, and no Secret but its own
  --secret NAME         with --cluster: one that its spec names; may be repeated
  --user NAME           with --cluster: one who has no passwordSecret; may be repeated

etcd-peer: what it needs in a namespace that has EtcdClusters.

  -n, --namespace NAME  where they are
  --cluster NAME        only for the EtcdCluster of this name

etcd-backup: what it needs in a namespace that has EtcdBackups or EtcdBackupSchedules.

  -n, --namespace NAME  where they are

etcd-restore: what it needs in a namespace that has EtcdRestores.

  -n, --namespace NAME  where they are

${OF_TAKEOVER}

metadata: to read a Secret that a MetadataFeed names in spec.nats.secretRef.

  --secret NAME         in ballast-system; may be repeated

  --help                this
`;

export const USAGE = usageOf('npm run -s rights --');

const OPTIONS = {
  namespace: { type: 'string', short: 'n' },
  cluster: { type: 'string' },
  secret: { type: 'string', multiple: true },
  user: { type: 'string', multiple: true },
  operator: { type: 'string' },
  into: { type: 'string', multiple: true },
  chart: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
} as const;

const GRANTED = [
  'nats-cluster',
  'etcd-cluster',
  'etcd-peer',
  'etcd-backup',
  'etcd-restore',
  'takeover',
  'metadata',
];

/** Names of namespaces and clusters. */
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function answer(args: readonly string[], usage = USAGE): string {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return usage;
  const [name, ...more] = positionals;
  if (name === undefined) throw new UsageError('the rights of which function?');
  if (more.length > 0) throw new UsageError(`one function at a time, not also ${more.join(' ')}`);
  return rightsOf(name, values)
    .map((manifest) => stringify(manifest, { aliasDuplicateObjects: false }))
    .join('---\n');
}

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

function rightsOf(name: string, values: Values): readonly Manifest[] {
  const { namespace, cluster, secret, user } = values;
  if (name !== 'takeover') refuseOthers(name, values);
  const secrets = (secret ?? []).map((one) => checked('--secret', one, OBJECT_NAME));
  const users = (user ?? []).map((one) => checked('--user', one, LABEL));
  switch (name) {
    case 'nats-cluster':
      return ofCluster({ namespace, cluster, secrets, users }, natsClusterRights);
    case 'etcd-cluster':
      return ofCluster({ namespace, cluster, secrets, users }, etcdClusterRights);
    case 'etcd-peer': {
      if (namespace === undefined) throw new UsageError('in which namespace? Add -n NAMESPACE');
      checked('--namespace', namespace, LABEL);
      if (secrets.length + users.length > 0) {
        throw new UsageError('etcd-peer reads no Secret: it takes -n and --cluster alone');
      }
      const only = cluster === undefined ? undefined : checked('--cluster', cluster, LABEL);
      return etcdPeerRights(namespace, only);
    }
    case 'etcd-backup':
    case 'etcd-restore': {
      if (namespace === undefined) throw new UsageError('in which namespace? Add -n NAMESPACE');
      checked('--namespace', namespace, LABEL);
      if (cluster !== undefined || secrets.length + users.length > 0) {
        throw new UsageError(`${name} takes -n alone`);
      }
      return name === 'etcd-backup' ? etcdBackupRights(namespace) : etcdRestoreRights(namespace);
    }
    case 'takeover':
      return ofTakeover({ namespace, cluster, secrets, users }, values);
    case 'metadata': {
      if (namespace !== undefined || cluster !== undefined || users.length > 0) {
        throw new UsageError('metadata reads Secrets of ballast-system: it takes --secret alone');
      }
      if (secrets.length === 0) throw new UsageError('which Secret? Add --secret NAME');
      return secrets.flatMap(secretRights);
    }
    default:
      throw new UsageError(`${name} has no rights to be granted: ${GRANTED.join(', ')} have`);
  }
}

function refuseOthers(name: string, { operator, into, chart }: Values): void {
  if (operator !== undefined) {
    throw new UsageError(`${name} knows no operator: --operator is for takeover alone`);
  }
  const [option] = [into && '--into', chart && '--chart'].filter((one) => one !== undefined);
  if (option === undefined) return;
  throw new UsageError(`${name} takes nothing over: ${option} is for takeover alone`);
}

interface Asked {
  readonly namespace: string | undefined;
  readonly cluster: string | undefined;
  readonly secrets: readonly string[];
  readonly users: readonly string[];
}

/** For all clusters of a namespace, or for the one of this name. */
function ofCluster(
  { namespace, cluster, secrets, users }: Asked,
  rights: typeof natsClusterRights | typeof etcdClusterRights,
): readonly Manifest[] {
  if (namespace === undefined) throw new UsageError('in which namespace? Add -n NAMESPACE');
  checked('--namespace', namespace, LABEL);
  if (cluster !== undefined) {
    return rights(namespace, { name: checked('--cluster', cluster, LABEL), secrets, users });
  }
  const narrows = secrets.length > 0 ? '--secret' : '--user';
  if (secrets.length + users.length === 0) return rights(namespace);
  throw new UsageError(`${narrows} narrows the rights for one cluster: add --cluster NAME`);
}

function ofTakeover(
  { namespace, cluster, secrets, users }: Asked,
  { operator, into: named = [], chart = [] }: Values,
): readonly Manifest[] {
  if (namespace === undefined) throw new UsageError('in which namespace? Add -n NAMESPACE');
  checked('--namespace', namespace, LABEL);
  if (cluster !== undefined || users.length > 0) {
    throw new UsageError('takeover takes -n, --secret, --operator, --into and --chart alone');
  }
  const into = named.map((one) => checked('--into', one, LABEL));
  const charts = chart.map((one) => checked('--chart', one, LABEL));
  if (operator === undefined) return takeoverRights(namespace, secrets, undefined, into, charts);
  const [place = '', name = '', ...more] = operator.split('/');
  if (more.length > 0 || !LABEL.test(place) || !OBJECT_NAME.test(name)) {
    throw new UsageError(
      '--operator wants a namespace and the name of a Deployment, as ops/operator',
    );
  }
  return takeoverRights(namespace, secrets, { namespace: place, name }, into, charts);
}

function checked(option: string, value: string, pattern: RegExp): string {
  if (pattern.test(value)) return value;
  throw new UsageError(`${option} ${JSON.stringify(value)} is no name that Kubernetes takes`);
}
