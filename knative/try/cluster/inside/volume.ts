// The next action for a claim or a volume of ours: pure, and the same however often it is asked
// for.
import { join, normalize, relative } from 'node:path';
import type { KubeObject, Manifest } from '../../../../shared/kube/objects.ts';
import type { ClusterObject } from '../../local/manifests/wiring.ts';

const PROVISIONER = 'ballast.dev/local';
const STORAGE_CLASS = 'local';

const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

/** The default: a volume is a directory on the node where the first pod with it was placed. */
export const storageClass: ClusterObject['object'] = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name: STORAGE_CLASS,
    annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
  },
  provisioner: PROVISIONER,
  volumeBindingMode: 'WaitForFirstConsumer',
  reclaimPolicy: 'Delete',
  allowVolumeExpansion: true,
};

interface Claim {
  readonly spec: {
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly resources?: { readonly requests?: { readonly storage?: string } };
  };
  readonly status?: {
    readonly phase?: string;
    readonly capacity?: { readonly storage?: string };
  };
}

export type ClaimStep =
  | { readonly do: 'nothing' }
  | { readonly do: 'provision'; readonly path: string; readonly volume: Manifest }
  | { readonly do: 'grow'; readonly volumeName: string; readonly storage: string };

/** `nodesDir` has a directory for every node, and only of ours is anything made. */
export function stepForClaim(object: KubeObject, nodesDir: string): ClaimStep {
  // The API server has taken it, and so it has these fields.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec, status } = object as unknown as Claim;
  const { metadata } = object;
  const storage = spec.resources?.requests?.storage;
  if (spec.storageClassName !== STORAGE_CLASS || storage === undefined) return { do: 'nothing' };
  if (metadata.deletionTimestamp !== undefined) return { do: 'nothing' };
  if (spec.volumeName !== undefined) {
    const isGrown = status?.phase !== 'Bound' || status.capacity?.storage === storage;
    return isGrown ? { do: 'nothing' } : { do: 'grow', volumeName: spec.volumeName, storage };
  }
  const node = metadata.annotations?.[SELECTED_NODE];
  if (node === undefined || spec.volumeMode === 'Block') return { do: 'nothing' };
  const name = `pvc-${metadata.uid}`;
  const path = join(nodesDir, node, 'volumes', name);
  if (!isOurs(path, nodesDir)) return { do: 'nothing' };
  const claimRef = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
  };
  const onNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] };
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { [PROVISIONED_BY]: PROVISIONER } },
    spec: {
      capacity: { storage },
      accessModes: spec.accessModes ?? ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: STORAGE_CLASS,
      // A local volume and not a host path: of these the kubelet gives the pod's group its share.
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onNode] }] } },
      claimRef,
    },
  };
  return { do: 'provision', path, volume };
}

/**
 * A claim or a volume may name any path, and directories are made and removed as root: only paths
 * of volumes count.
 */
function isOurs(path: string, nodesDir: string): boolean {
  const inside = relative(nodesDir, path);
  return normalize(path) === path && /^[a-z0-9][^/]*\/volumes\/pvc-[^/]+$/.test(inside);
}

/** The directory of a volume that nobody will claim again; undefined for all others. */
export function pathToRemove(
  { metadata, ...rest }: KubeObject,
  nodesDir: string,
): string | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec, status } = rest as unknown as {
    readonly spec: { readonly local?: { readonly path: string }; readonly [key: string]: unknown };
    readonly status?: { readonly phase?: string };
  };
  if (metadata.annotations?.[PROVISIONED_BY] !== PROVISIONER) return undefined;
  if (spec['persistentVolumeReclaimPolicy'] !== 'Delete') return undefined;
  const path = spec.local?.path;
  if (status?.phase !== 'Released' || path === undefined) return undefined;
  return isOurs(path, nodesDir) ? path : undefined;
}
