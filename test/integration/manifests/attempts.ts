// Attempts of somebody who has the token of an account and wants more than it is for.
import { peerManifest } from '../../builders/peer-writers.ts';
import type { Attempt } from './accounts-at-work.ts';

const create = (path: string, body: object): Attempt => ({ method: 'POST', path, body });
const read = (path: string): Attempt => ({ method: 'GET', path });
const patch = (path: string, body: object): Attempt => ({ method: 'PATCH', path, body });
const remove = (path: string): Attempt => ({ method: 'DELETE', path });

const RBAC = 'rbac.authorization.k8s.io';
const ADMIN = { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' };
const SUBJECTS = [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }];
const POD = { containers: [{ name: 'a', image: 'nats:2.15.2' }] };
const EVERYTHING = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

const tokenSecret = (namespace: string): Attempt =>
  create(`/api/v1/namespaces/${namespace}/secrets`, {
    metadata: { name: 'minted', annotations: { 'kubernetes.io/service-account.name': 'strong' } },
    type: 'kubernetes.io/service-account-token',
  });

const pod = (namespace: string): Attempt =>
  create(`/api/v1/namespaces/${namespace}/pods`, { metadata: { name: 'mine' }, spec: POD });

const tokenRequest = (account: string): Attempt =>
  create(`/api/v1/namespaces/${account}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  });

const webhook = (kind: string): Attempt =>
  create(`/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}s`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: 'mine' },
    webhooks: [],
  });

/** Refused to each account; `shop` is a namespace with a NatsCluster whose rights are granted. */
export const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  'reads a Secret of kube-system': read('/api/v1/namespaces/kube-system/secrets/crown'),
  'lists all Secrets': read('/api/v1/secrets'),
  'lists the Secrets of ballast-system': read('/api/v1/namespaces/ballast-system/secrets'),
  'lists the Secrets of shop': read('/api/v1/namespaces/shop/secrets'),
  'reads a ConfigMap of kube-system': read('/api/v1/namespaces/kube-system/configmaps/some'),
  'asks for a token of another account': tokenRequest('kube-system/serviceaccounts/strong'),
  'asks for a token at home': tokenRequest('ballast-system/serviceaccounts/nats-cluster'),
  'mints a token in kube-system': tokenSecret('kube-system'),
  'mints a token at home': tokenSecret('ballast-system'),
  'mints a token in shop': tokenSecret('shop'),
  'makes an account': create('/api/v1/namespaces/shop/serviceaccounts', {
    metadata: { name: 'mine' },
  }),
  'runs a pod in kube-system': pod('kube-system'),
  'runs a pod at home': pod('ballast-system'),
  'runs a pod in shop': pod('shop'),
  'runs a StatefulSet at home': create('/apis/apps/v1/namespaces/ballast-system/statefulsets', {
    metadata: { name: 'mine' },
    spec: {
      serviceName: 'mine',
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: POD },
    },
  }),
  'binds cluster-admin': create(`/apis/${RBAC}/v1/clusterrolebindings`, {
    metadata: { name: 'mine' },
    roleRef: ADMIN,
    subjects: SUBJECTS,
  }),
  'binds cluster-admin in shop': create(`/apis/${RBAC}/v1/namespaces/shop/rolebindings`, {
    metadata: { name: 'mine' },
    roleRef: ADMIN,
    subjects: SUBJECTS,
  }),
  'widens a role': patch(`/apis/${RBAC}/v1/clusterroles/ballast-nats-cluster`, {
    rules: EVERYTHING,
  }),
  'widens a role of shop': patch(`/apis/${RBAC}/v1/namespaces/shop/roles/ballast-nats-cluster`, {
    rules: EVERYTHING,
  }),
  'acts as an administrator': {
    ...read('/api/v1/namespaces/kube-system/secrets/crown'),
    headers: { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' },
  },
  'acts as another account': {
    ...read('/api/v1/namespaces/shop/secrets/passwords'),
    headers: { 'impersonate-user': 'system:serviceaccount:ballast-system:nats-cluster' },
  },
  'asks for a certificate': create('/apis/certificates.k8s.io/v1/certificatesigningrequests', {
    metadata: { name: 'mine' },
    spec: { request: 'bWluZQ==', signerName: 'kubernetes.io/kube-apiserver-client', usages: [] },
  }),
  'listens to all writes': webhook('ValidatingWebhookConfiguration'),
  'changes all writes': webhook('MutatingWebhookConfiguration'),
  'takes the admission policy away': remove(
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/ballast-nats-cluster',
  ),
  'takes its binding away': remove(
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/ballast-nats-cluster',
  ),
  'enters a pod': create('/api/v1/namespaces/shop/pods/nats-0/exec?command=id&stdout=true', {}),
  'attaches to a pod': create('/api/v1/namespaces/shop/pods/nats-0/attach?stdout=true', {}),
  'reads the log of a pod': read('/api/v1/namespaces/shop/pods/nats-0/log'),
  'forwards a port': create('/api/v1/namespaces/shop/pods/nats-0/portforward?ports=4222', {}),
  'goes through a Service': read('/api/v1/namespaces/shop/services/nats/proxy/'),
  'goes through a node': read('/api/v1/nodes/one/proxy/pods'),
  'changes a node': patch('/api/v1/nodes/one', { spec: { unschedulable: true } }),
  'changes a definition': patch(
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/natsclusters.ballast.dev',
    { metadata: { labels: { mine: 'yes' } } },
  ),
  'makes a NatsCluster': create('/apis/ballast.dev/v1alpha1/namespaces/shop/natsclusters', {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'NatsCluster',
    metadata: { name: 'mine' },
    spec: {},
  }),
  'changes a NatsCluster': patch('/apis/ballast.dev/v1alpha1/namespaces/shop/natsclusters/nats', {
    spec: { replicas: 5 },
  }),
  'deletes a NatsCluster': remove('/apis/ballast.dev/v1alpha1/namespaces/shop/natsclusters/nats'),
  'makes an EtcdPeer': create('/apis/ballast.dev/v1alpha1/namespaces/shop/etcdpeers', {
    ...peerManifest('shop', 'mine-0'),
  }),
  'changes a NetworkPolicy': patch(
    '/apis/networking.k8s.io/v1/namespaces/ballast-system/networkpolicies/functions',
    { spec: { ingress: [{}] } },
  ),
  'deletes a namespace': remove('/api/v1/namespaces/shop'),
};
