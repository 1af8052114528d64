// Writes of the account of nats-cluster in the wrong hands, where it may write at all: each with
// the answer of the admission policy.
import { forgedLife } from './forged-life.ts';
import { serversOf } from './servers-of.ts';

export const CLUSTER = 'nats';

export interface Body {
  readonly metadata: object;
  readonly [field: string]: unknown;
}

/** The metadata of what belongs to the NatsCluster that is there. */
export type Owned = (name: string, more?: object) => object;

export const ownedBy = (cluster: string, uid: string, name: string, more: object): object => ({
  name,
  labels: { 'ballast.dev/nats-cluster': cluster },
  ownerReferences: [
    {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'NatsCluster',
      name: cluster,
      uid,
      controller: true,
    },
  ],
  ...more,
});

const SELECTOR = { 'ballast.dev/nats-cluster': CLUSTER };

/** A budget that names a Secret as its second owner. */
function budgetOf(owned: Owned, secret: object, cluster: object = {}): Body {
  const metadata = owned(CLUSTER) as { readonly ownerReferences: readonly object[] };
  const its = { apiVersion: 'v1', kind: 'Secret', name: 'nats-user', uid: 'u', ...secret };
  const ownerReferences = [...metadata.ownerReferences.map((one) => ({ ...one, ...cluster })), its];
  const spec = { maxUnavailable: 1, selector: { matchLabels: SELECTOR } };
  return { metadata: { ...metadata, ownerReferences }, spec };
}

type Forged = readonly [title: string, resource: string, body: (owned: Owned) => Body, why: string];

export const FORGED: readonly Forged[] = [
  [
    'a token',
    'secrets',
    (owned) => ({
      metadata: owned('nats-user', {
        annotations: { 'kubernetes.io/service-account.name': 'strong' },
      }),
      type: 'kubernetes.io/service-account-token',
    }),
    'Only Opaque Secrets',
  ],
  [
    'a Secret of another name',
    'secrets',
    (owned) => ({ metadata: owned('passwords-2') }),
    'The name',
  ],
  [
    'a Secret whose name begins as that of a user does',
    'secrets',
    (owned) => ({ metadata: owned('nats-users') }),
    'The name',
  ],
  [
    'a Secret of nobody',
    'secrets',
    (owned) => ({
      metadata: { ...owned('nats-user'), ownerReferences: [] },
    }),
    'does not belong',
  ],
  [
    'a Secret without our label',
    'secrets',
    (owned) => ({
      metadata: { ...owned('nats-user'), labels: {} },
    }),
    'no label',
  ],
  [
    'a Service that takes an address over',
    'services',
    (owned) => ({
      metadata: owned(CLUSTER),
      spec: {
        ports: [{ port: 443 }],
        externalIPs: ['192.0.2.1'],
        selector: { 'ballast.dev/nats-cluster': CLUSTER },
      },
    }),
    'A Service is for',
  ],
  [
    'a Service before pods of others',
    'services',
    (owned) => ({
      metadata: owned(CLUSTER),
      spec: { ports: [{ port: 443 }], selector: { app: 'web' } },
    }),
    'A Service is for',
  ],
  [
    'a budget over pods of others',
    'poddisruptionbudgets',
    (owned) => ({
      metadata: owned(CLUSTER),
      spec: { maxUnavailable: 0, selector: {} },
    }),
    'A PodDisruptionBudget is for',
  ],
  [
    'a budget that goes with a Secret of others',
    'poddisruptionbudgets',
    (owned) => budgetOf(owned, { name: 'passwords' }),
    'A budget names',
  ],
  [
    'a budget that belongs to a Secret',
    'poddisruptionbudgets',
    (owned) => budgetOf(owned, { controller: true }, { controller: false }),
    'does not belong',
  ],
  [
    'a budget for which whoever deletes a Secret waits',
    'poddisruptionbudgets',
    (owned) => budgetOf(owned, { blockOwnerDeletion: true }),
    'A budget names',
  ],
  [
    'a Service that goes with a Secret',
    'services',
    (owned) => ({ ...budgetOf(owned, {}), spec: { ports: [{ port: 1 }], selector: SELECTOR } }),
    'does not belong',
  ],
  [
    'a policy that cuts pods of others off',
    'networkpolicies',
    (owned) => ({
      metadata: owned(CLUSTER),
      spec: { podSelector: {}, policyTypes: ['Ingress'] },
    }),
    'A NetworkPolicy is for',
  ],
  [
    'a policy that keeps its servers in',
    'networkpolicies',
    (owned) => ({
      metadata: owned(CLUSTER),
      spec: {
        podSelector: { matchLabels: { 'ballast.dev/nats-cluster': CLUSTER } },
        policyTypes: ['Ingress', 'Egress'],
      },
    }),
    'A NetworkPolicy is for',
  ],
];

const pod = (spec: object) => serversOf(CLUSTER, { spec });
const volume = (config: object) =>
  serversOf(CLUSTER, {
    spec: { volumes: [{ name: 'config', ...config }] },
    container: { volumeMounts: [] },
  });
const container = (more: object) => serversOf(CLUSTER, { container: more });

const ENDS = {
  preStop: { exec: { command: ['nats-server', '--signal', 'ldm=/var/run/nats/nats.pid'] } },
};

export const FORGED_SERVERS: readonly (readonly [title: string, spec: object, why: string])[] = [
  ...forgedLife(ENDS).map(([what, more]) => [what, container(more), 'The kubelet'] as const),
  ['with other arguments', container({ args: ['--config', '/data/mine.conf'] }), 'one container'],
  // The API server itself knows of none in a template.
  [
    'with a container for a while',
    pod({ ephemeralContainers: [{ name: 'b', image: 'b' }] }),
    'not allowed in pod template',
  ],
  ['of another image', container({ image: 'mine:1' }), 'may run in a NatsCluster'],
  ['with another command', container({ command: ['sh'] }), 'one container'],
  ['with a second container', pod({ initContainers: [{ name: 'b', image: 'b' }] }), 'one contain'],
  [
    'with passwords of others',
    container({ envFrom: [{ secretRef: { name: 'passwords' } }] }),
    'one',
  ],
  [
    'with a password of others',
    container({
      env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'passwords', key: 'a' } } }],
    }),
    'one container',
  ],
  ['with an account', pod({ serviceAccountName: 'strong' }), 'Servers have no account'],
  ['with a token', pod({ automountServiceAccountToken: true }), 'Servers have no account'],
  ['with the disk of its node', volume({ hostPath: { path: '/' } }), 'own configuration'],
  ['with a Secret of others', volume({ secret: { secretName: 'passwords' } }), 'own conf'],
  [
    'with a token in a volume',
    volume({ projected: { sources: [{ serviceAccountToken: { path: 'a' } }] } }),
    'own configuration',
  ],
  ['on the network of its node', pod({ hostNetwork: true }), 'share nothing'],
  ['among the processes of its node', pod({ hostPID: true }), 'share nothing'],
  ['on a node that it chooses', pod({ nodeName: 'one' }), 'share nothing'],
  ['before all others', pod({ priorityClassName: 'system-node-critical' }), 'share nothing'],
  [
    'with privileges',
    container({
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
      },
    }),
    'no privileges',
  ],
  [
    'as root',
    container({
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        runAsUser: 0,
      },
    }),
    'no privileges',
  ],
];
