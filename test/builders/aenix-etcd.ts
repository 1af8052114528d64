// An EtcdCluster of aenix's etcd operator as that leaves it: its definition, the object, and what
// belongs to that: a StatefulSet, two Services, a ConfigMap and a PodDisruptionBudget. Pods and
// claims are made by whoever runs a StatefulSet; a test says where the pods are. Webhooks of the
// operator, which is gone, refuse every change of the object.
import { AENIX_ETCDS } from '../../shared/api/takeover.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ObjectName, ResourceRef } from '../../shared/kube/objects.ts';
import { PODS, SERVICES, STATEFUL_SETS } from '../../shared/stateful/parts.ts';
import { createTakeover, defineLegacyKind, runsAt } from './legacy-kind.ts';
import { until } from './versioned-kind.ts';

const AENIX_TYPE = 'etcd.aenix.io/v1alpha1';
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' } as const;
const BUDGETS = {
  group: 'policy',
  version: 'v1',
  resource: 'poddisruptionbudgets',
} as const;

export const defineAenixEtcd = (kube: KubeClient): Promise<void> =>
  defineLegacyKind(kube, AENIX_ETCDS, 'EtcdCluster', 'aenixetcd');

const CLIENT = { name: 'client', port: 2379, targetPort: 2379, protocol: 'TCP' };
const PEER = { name: 'peer', port: 2380, targetPort: 2380, protocol: 'TCP' };

export class AenixEtcd {
  readonly #kube: KubeClient;
  readonly #namespace: string;
  readonly #name: string;

  constructor(kube: KubeClient, namespace: string, name: string) {
    this.#kube = kube;
    this.#namespace = namespace;
    this.#name = name;
  }

  get labels() {
    return {
      'app.kubernetes.io/name': 'etcd',
      'app.kubernetes.io/instance': this.#name,
      'app.kubernetes.io/managed-by': 'etcd-operator',
    };
  }

  async create(replicas: number, spec: object = {}): Promise<void> {
    const storage = { resources: { requests: { storage: '1Gi' } } };
    const { object } = await this.#kube.create(AENIX_ETCDS, {
      apiVersion: AENIX_TYPE,
      kind: 'EtcdCluster',
      metadata: { namespace: this.#namespace, name: this.#name },
      spec: {
        replicas,
        storage: { volumeClaimTemplate: { spec: storage } },
        podDisruptionBudgetTemplate: {},
        ...spec,
      },
    });
    const { uid } = object.metadata;
    const owner = { apiVersion: AENIX_TYPE, kind: 'EtcdCluster', name: this.#name, uid };
    const put = async (ref: ResourceRef, kind: string, name: string, body: object) => {
      const apiVersion = ref.group === '' ? 'v1' : `${ref.group}/v1`;
      const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }];
      const own = { namespace: this.#namespace, name, labels: this.labels, ownerReferences };
      await this.#kube.create(ref, { apiVersion, kind, metadata: own, ...body });
    };
    const selector = this.labels;
    await put(SERVICES, 'Service', this.#name, { spec: { ports: [CLIENT], selector } });
    await put(SERVICES, 'Service', `${this.#name}-headless`, {
      spec: {
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        ports: [PEER, CLIENT],
        selector,
      },
    });
    await put(CONFIG_MAPS, 'ConfigMap', `${this.#name}-cluster-state`, { data: {} });
    const budget = { maxUnavailable: 1, selector: { matchLabels: selector } };
    await put(BUDGETS, 'PodDisruptionBudget', this.#name, { spec: budget });
    await put(STATEFUL_SETS, 'StatefulSet', this.#name, { spec: this.#pods(replicas) });
  }

  #pods(replicas: number): object {
    const probe = (path: string) => ({ httpGet: { path, port: 2381 }, periodSeconds: 5 });
    const etcd = {
      name: 'etcd',
      image: 'quay.io/coreos/etcd:v3.5.35',
      startupProbe: probe('/readyz?serializable=false'),
      livenessProbe: probe('/livez'),
      readinessProbe: probe('/readyz'),
      volumeMounts: [{ name: 'data', mountPath: '/var/run/etcd' }],
    };
    return {
      replicas,
      serviceName: `${this.#name}-headless`,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: this.labels },
      // No kubelet of a test takes what runs elsewhere already.
      template: {
        metadata: { labels: this.labels },
        spec: { nodeName: 'elsewhere', containers: [etcd] },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
          },
        },
      ],
    };
  }

  /** Once its pod is there, as a kubelet would tell. */
  async runs(pod: string, ip: string): Promise<void> {
    const target = { namespace: this.#namespace, name: pod };
    await until(`pod ${pod}`, async () => (await this.#kube.get(PODS, target)) !== null);
    await runsAt(this.#kube, target, ip);
    const status = { containerStatuses: [CONTAINER] };
    const at = { ...target, subresource: 'status' } as const;
    await this.#kube.patch(PODS, at, { type: 'merge', body: { status } });
  }

  /** Its operator is told of where there is one. */
  async takeOver(name: string, more: object = {}, operator?: ObjectName): Promise<void> {
    const told = operator && { operator };
    const legacy = { apiVersion: AENIX_TYPE, kind: 'EtcdCluster', name: this.#name, ...told };
    const into = { name: `${this.#name}-2` };
    const metadata = { namespace: this.#namespace, name };
    await createTakeover(this.#kube, metadata, { legacy, into, ...more });
  }
}

const CONTAINER = {
  name: 'etcd',
  image: '',
  imageID: '',
  ready: true,
  started: true,
  restartCount: 0,
};
