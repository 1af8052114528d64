// Kubernetes' own storage version migrator, which is off by default: a plane on which it works, one
// migration with it, and the world in which it trims storedVersions though it failed.
import { addControllerManager } from '../../../knative/local/plane/kube-controller-manager.ts';
import { type Plane, startPlane } from '../../../knative/local/plane/plane.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { GROUP, oldName, until, type VersionedKind } from '../../builders/versioned-kind.ts';
import { refuseUpdates } from './refusal.ts';

/** In 1.36 beta and off: both the API server and the controller manager want the gate. */
const GATE = 'StorageVersionMigrator';
const API_SERVER_FLAGS = [
  `--feature-gates=${GATE}=true`,
  '--runtime-config=storagemigration.k8s.io/v1beta1=true',
];
/** The migrator has no list of its own: it walks the cache of the garbage collector. */
const CONTROLLERS = ['storage-version-migrator-controller', 'garbage-collector-controller'];

const MIGRATIONS: ResourceRef = {
  group: 'storagemigration.k8s.io',
  version: 'v1beta1',
  resource: 'storageversionmigrations',
};

interface Migration extends KubeObject {
  readonly status?: {
    readonly resourceVersion?: string;
    readonly conditions?: readonly Readonly<Record<'type' | 'status' | 'message', string>>[];
  };
}

export interface Outcome {
  readonly result: 'Succeeded' | 'Failed';
  readonly message: string;
}

/** etcd and an API server that has the API of the migrator, and nobody yet who serves it. */
export const startInTreePlane = (): Promise<Plane> =>
  startPlane({ parts: ['etcd', 'kube-apiserver'], apiServerFlags: API_SERVER_FLAGS });

/**
 * To be added when the kinds to migrate are served: it looks for new ones every 30 s only, and at
 * its start.
 */
export async function addInTreeMigrator(plane: Plane): Promise<void> {
  await addControllerManager(plane, { controllers: CONTROLLERS, featureGates: [GATE] });
}

/** Returns when it is over and storedVersions has been dealt with. */
export async function migrateInTree(kube: KubeClient, kind: VersionedKind): Promise<Outcome> {
  const name = kind.crdName;
  await kube.create(MIGRATIONS, {
    apiVersion: 'storagemigration.k8s.io/v1beta1',
    kind: 'StorageVersionMigration',
    metadata: { name },
    spec: { resource: { group: GROUP, resource: kind.plural } },
  });
  let now: Migration | undefined;
  const read = async (): Promise<Migration> => {
    now = (await kube.get(MIGRATIONS, { name })) as Migration;
    return now;
  };
  await until(
    `${name} to have its start`,
    async () => (await read()).status?.resourceVersion !== undefined,
  );
  // It waits until the garbage collector has seen something newer: a bookmark, within a minute, or
  // any change of the kind.
  await kind.touch('newer');
  await until(`${name} to end`, async () => isOver(await read()));
  const end = conditionsOf(now).find(({ type, status }) => type !== 'Running' && status === 'True');
  return { result: end?.type === 'Failed' ? 'Failed' : 'Succeeded', message: end?.message ?? '' };
}

const conditionsOf = (migration: Migration | undefined) => migration?.status?.conditions ?? [];

/** It ends first, then storedVersions is trimmed, then it stops to be called running. */
function isOver(migration: Migration): boolean {
  const stands = (type: string, status: string): boolean =>
    conditionsOf(migration).some((one) => one.type === type && one.status === status);
  return (stands('Succeeded', 'True') || stands('Failed', 'True')) && stands('Running', 'False');
}

/**
 * One object refuses to be updated, so that the migration fails; yet afterwards storedVersions is
 * `[v1]`, and that object at least is still stored as v1alpha1. The kind has old objects.
 */
export async function trimWrongly(
  kube: KubeClient,
  kind: VersionedKind,
): Promise<Outcome & { readonly refused: string }> {
  const refused = oldName(2);
  await refuseUpdates(kube, kind, refused);
  return { ...(await migrateInTree(kube, kind)), refused };
}
