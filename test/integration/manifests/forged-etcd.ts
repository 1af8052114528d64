// Writes of the account of etcd-cluster in the wrong hands, where it may write at all: each with
// the answer of the admission policies.
import { PEER_SPEC } from '../../builders/peer-writers.ts';
import type { Body, Owned } from './forged.ts';

/** The EtcdCluster whose member the builder makes. */
export const CLUSTER = PEER_SPEC.cluster;
export const MEMBER = 'main-0';
export const LABELS = { 'ballast.dev/etcd-cluster': CLUSTER };

export const ownedBy =
  (uid: string): Owned =>
  (name, more = {}) => ({
    name,
    labels: LABELS,
    ownerReferences: [
      {
        apiVersion: 'ballast.dev/v1alpha1',
        kind: 'EtcdCluster',
        name: CLUSTER,
        uid,
        controller: true,
      },
    ],
    ...more,
  });

type Forged = readonly [what: string, resource: string, body: (owned: Owned) => Body, why: string];

const service = (spec: object) => ({ ports: [{ port: 2379 }], selector: LABELS, ...spec });

export const FORGED: readonly Forged[] = [
  [
    'a token',
    'secrets',
    (owned) => ({
      metadata: owned('main-client', {
        annotations: { 'kubernetes.io/service-account.name': 'strong' },
      }),
      type: 'kubernetes.io/service-account-token',
    }),
    'Only Opaque Secrets',
  ],
  ['a Secret of another name', 'secrets', (owned) => ({ metadata: owned('main-2') }), 'The name'],
  [
    'a Secret of nobody',
    'secrets',
    (owned) => ({ metadata: { ...owned('main-tls'), ownerReferences: [] } }),
    'does not belong',
  ],
  [
    'a Secret without our label',
    'secrets',
    (owned) => ({ metadata: { ...owned('main-tls'), labels: {} } }),
    'no label',
  ],
  [
    'a Service that takes an address over',
    'services',
    (owned) => ({ metadata: owned(CLUSTER), spec: service({ externalIPs: ['192.0.2.1'] }) }),
    'A Service is for',
  ],
  [
    'a Service before pods of others',
    'services',
    (owned) => ({ metadata: owned(CLUSTER), spec: service({ selector: { app: 'web' } }) }),
    'A Service is for',
  ],
  [
    'a budget over pods of others',
    'poddisruptionbudgets',
    (owned) => ({ metadata: owned(CLUSTER), spec: { maxUnavailable: 0, selector: {} } }),
    'A PodDisruptionBudget is for',
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
    'a policy that keeps its members in',
    'networkpolicies',
    (owned) => ({
      metadata: owned(CLUSTER),
      spec: { podSelector: { matchLabels: LABELS }, policyTypes: ['Ingress', 'Egress'] },
    }),
    'A NetworkPolicy is for',
  ],
  [
    'a member of another cluster',
    'etcdpeers',
    (owned) => ({ ...etcdPeer(owned), spec: { ...PEER_SPEC, cluster: 'other' } }),
    'An EtcdPeer is a member',
  ],
  [
    'a member of nobody',
    'etcdpeers',
    (owned) => ({ ...etcdPeer(owned), metadata: { ...owned(MEMBER), ownerReferences: [] } }),
    'does not belong',
  ],
  [
    'a member by the name of another cluster',
    'etcdpeers',
    (owned) => ({ ...etcdPeer(owned), metadata: owned('other-0') }),
    'The name',
  ],
  [
    'a member with an image that is not allowed',
    'etcdpeers',
    (owned) => ({ ...etcdPeer(owned), spec: { ...PEER_SPEC, image: 'miner:1.0.0' } }),
    'may run in an EtcdCluster',
  ],
];

export const etcdPeer = (owned: Owned): Body => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'EtcdPeer',
  metadata: owned(MEMBER),
  spec: PEER_SPEC,
});
