// An EtcdCluster of aenix's etcd operator on the model of the API server, as that leaves it: a
// StatefulSet with its pods, claims that belong to nobody, two Services, a ConfigMap and a
// PodDisruptionBudget.
import { AENIX_ETCDS } from '../../../shared/api/takeover.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { CLAIMS, PODS, SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { type Carrying, COPYING, type OldEtcd } from './carrying.ts';
import { answerOf, beginEmpty, DEPLOYMENTS, namespace, putTakeover, world } from './world.ts';

const apiVersion = 'etcd.aenix.io/v1alpha1';
const ETCD = { name: 'etcd', startupProbe: { httpGet: { path: '/readyz?serializable=false' } } };
const labels = {
  'app.kubernetes.io/name': 'etcd',
  'app.kubernetes.io/instance': 'old',
  'app.kubernetes.io/managed-by': 'etcd-operator',
};

export interface Left {
  readonly spec?: object;
  readonly metadata?: object;
  readonly policy?: object;
  /** That of the StatefulSet. */
  readonly status?: object;
  readonly etcd?: object;
  readonly isStarted?: boolean;
}

/** A person says by it that nobody looks after the object. */
export const GONE = { annotations: { 'ballast.dev/operator': 'Gone' } };
export const IMAGE = 'ghcr.io/aenix-io/etcd-operator:v0.4.2';

export const AENIX: OldEtcd = {
  service: 'old',
  selector: labels,
  pods: ['old-0', 'old-1', 'old-2'],
  claims: ['data-old-0', 'data-old-1', 'data-old-2'],
  steps: [...COPYING, 'SwitchService', 'DeleteLegacy'],
  begin: () => leaveAenix({ metadata: GONE }),
  image: IMAGE,
};

const put = (ref: ResourceRef, kind: string, name: string, owner: object, rest: object): string =>
  world.kube.put(ref, {
    apiVersion: ref.group === '' ? 'v1' : `${ref.group}/${ref.version}`,
    kind,
    metadata: { namespace, name, labels, ownerReferences: [owner] },
    ...rest,
  }).metadata.uid;

export function leaveAenix(left: Left = {}): void {
  beginEmpty();
  const { metadata } = world.kube.put(AENIX_ETCDS, {
    apiVersion,
    kind: 'EtcdCluster',
    metadata: { namespace, name: 'old', ...left.metadata },
    spec: { storage: {}, ...left.spec },
  });
  const owner = { apiVersion, kind: 'EtcdCluster', name: 'old', uid: metadata.uid };
  const claims = { persistentVolumeClaimRetentionPolicy: left.policy ?? {} };
  const uid = put(STATEFUL_SETS, 'StatefulSet', 'old', owner, {
    spec: claims,
    status: left.status ?? { currentRevision: 'old-1', updateRevision: 'old-1' },
  });
  putMembers({ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'old', uid }, left);
  const service = { spec: { selector: labels } };
  for (const name of ['old', 'old-headless']) put(SERVICES, 'Service', name, owner, service);
  putTakeover({ legacy: { apiVersion, kind: 'EtcdCluster', name: 'old' } });
}

function putMembers(owner: object, { etcd = {}, isStarted: started = true }: Left): void {
  for (const [at, name] of AENIX.pods.entries()) {
    const podIP = `10.0.2.${'a'.charCodeAt(0) + at}`;
    const claimName = `data-${name}`;
    world.answers.set(podIP, answerOf(at, { version: '3.5.12' }));
    put(PODS, 'Pod', name, owner, {
      spec: {
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
        containers: [{ ...ETCD, ...etcd }],
      },
      status: { phase: 'Running', podIP, containerStatuses: [{ name: 'etcd', started }] },
    });
    const claim = { metadata: { namespace, name: claimName, labels } };
    world.kube.put(CLAIMS, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...claim });
  }
}

/** The operator, once somebody has started it: it writes the Service as it would be made. */
export function operate({ kube }: Carrying): void {
  const deployment = kube.objects.get(`${DEPLOYMENTS.resource}/${namespace}/etcd-operator`);
  const legacy = kube.objects.get(`etcdclusters/${namespace}/old`);
  const service = kube.objects.get(`services/${namespace}/old`);
  const { replicas } = Object(deployment?.['spec']);
  if (replicas === 0 || legacy === undefined || service === undefined) return;
  const { uid } = legacy.metadata;
  const ownerReferences = [{ apiVersion, kind: 'EtcdCluster', name: 'old', uid }];
  if (service.metadata.ownerReferences?.[0]?.uid === uid) return;
  kube.put(SERVICES, {
    ...service,
    metadata: { ...service.metadata, ownerReferences },
    spec: { selector: labels },
  });
}
