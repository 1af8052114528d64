// The others in the world of a takeover: the functions that take a snapshot, restore it and run the
// new EtcdCluster, and the garbage collector.
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_RESTORES } from '../../../shared/api/etcd-restore.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { CLAIMS, PODS } from '../../../shared/stateful/parts.ts';
import type { KubeModel } from '../stateful/kube-model.ts';
import { namespace } from './world.ts';

export const NEW_IP = '10.0.1.1';
/** The id of the old cluster, as an EtcdBackup tells it. */
export const OLD_ID = '7';

export const at = (name: string) => ({ namespace, name });

export interface Scene {
  readonly kube: KubeModel;
  readonly etcds: {
    /** By key, the revision that wrote it. */
    readonly old: Map<string, number>;
    readonly now: Map<string, number>;
    revision: number;
  };
}

const allOf = ({ kube }: Scene, resource: string): readonly KubeObject[] => [
  ...kube.of(resource).values(),
];

/** Each has all that is there now. */
export function takeBackups(scene: Scene): void {
  const { kube, etcds } = scene;
  const isReady = ({ status, metadata }: KubeObject): boolean =>
    status === undefined &&
    kube.objects.has(`persistentvolumeclaims/${namespace}/${metadata.name}`);
  const object = allOf(scene, 'etcdbackups').find((one) => isReady(one));
  if (object === undefined) return;
  const entries = [...etcds.old];
  const revision = String(etcds.revision);
  const backup = { revision, keys: entries.length, clusterId: OLD_ID };
  kube.put(ETCD_BACKUPS, { ...object, status: { phase: 'Complete', backup, entries } });
}

/** One thing at a time. */
export function restore(scene: Scene): void {
  const { kube, etcds } = scene;
  const [object] = allOf(scene, 'etcdrestores');
  if (object === undefined) return;
  const { name, uid } = object.metadata;
  const status = Object(object['status']) as { phase?: string; clusterId?: string };
  if (status.clusterId === undefined) {
    kube.put(ETCD_RESTORES, { ...object, status: { phase: 'Running', clusterId: uid } });
  } else if (!kube.objects.has(`etcdclusters/${namespace}/new`)) {
    const backup = kube.objects.get(`etcdbackups/${namespace}/${name}`);
    etcds.now.clear();
    for (const [key, revision] of Object(backup?.['status']).entries) etcds.now.set(key, revision);
    makeCluster(kube, name, uid);
  } else if (status.phase !== 'Complete') {
    kube.put(ETCD_RESTORES, { ...object, status: { ...status, phase: 'Complete' } });
  }
}

function makeCluster(kube: KubeModel, restoreName: string, clusterId: string): void {
  const apiVersion = 'ballast.dev/v1alpha1';
  const labels = { 'ballast.dev/etcd-restore': restoreName };
  const annotations = { 'ballast.dev/etcd-cluster-id': clusterId };
  const own = { 'ballast.dev/etcd-cluster': 'new' };
  const ready = { type: 'Ready', status: 'True', reason: 'Whole', message: 'It is.' };
  const { metadata } = kube.put(ETCD_CLUSTERS, {
    apiVersion,
    kind: 'EtcdCluster',
    metadata: { ...at('new'), labels, annotations },
    status: { clusterId, conditions: [ready] },
  });
  const ownerReferences = [{ apiVersion, kind: 'EtcdCluster', name: 'new', uid: metadata.uid }];
  kube.put(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...at('new-0-0'), labels: own, ownerReferences },
    status: { phase: 'Running', podIP: NEW_IP },
  });
  kube.put(CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...at('data-new-0'), labels: own, annotations },
  });
}

/** All that belongs to nobody any more goes, and what belongs to that; what is held is to go. */
export function collectGarbage(kube: KubeModel): void {
  for (let before = -1; before !== kube.objects.size;) {
    before = kube.objects.size;
    collectOnce(kube);
  }
}

function collectOnce(kube: KubeModel): void {
  // The model gives an Event the uid of what was made before it.
  const all = [...kube.objects].filter(([key]) => !key.startsWith('events/'));
  const there = new Set(all.map(([, { metadata }]) => metadata.uid));
  for (const [key, { metadata }] of all) {
    const { ownerReferences: owners = [], deletionTimestamp, finalizers } = metadata;
    const isLeft = owners.length > 0 && !owners.some(({ uid }) => there.has(uid));
    const isReleased = deletionTimestamp !== undefined && finalizers?.length === 0;
    if (!isLeft && !isReleased) continue;
    if (finalizers === undefined || finalizers.length === 0) {
      kube.remove(refOf(key), at(metadata.name));
    } else if (deletionTimestamp === undefined) {
      kube.change(refOf(key), at(metadata.name), { metadata: ENDING });
    }
  }
}

const ENDING = { deletionTimestamp: '2026-11-26T06:00:00Z' };

const refOf = (key: string): ResourceRef => ({
  group: '',
  version: '',
  resource: key.slice(0, key.indexOf('/')),
});
