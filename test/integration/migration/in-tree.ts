// Kubernetes' own storage version migrator, which is off by default: a plane on which it works, one
// migration with it, and the world in which it trims storedVersions though it failed.
import { addControllerManager } from '../../../knative/try/local/plane/kube-controller-manager.ts';
import {
  type Plane,
  type PlaneOptions,
  startPlane,
} from '../../../knative/try/local/plane/plane.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
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

const LINES_SEARCHED = 200;
/** Three thousand objects take it half a minute here. */
const MIGRATED_WITHIN_MS = 300_000;

export const MIGRATIONS: ResourceRef = {
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
export const startInTreePlane = (options: PlaneOptions = {}): Promise<Plane> =>
  startPlane({ parts: ['etcd', 'kube-apiserver'], apiServerFlags: API_SERVER_FLAGS, ...options });

/**
 * To be added when the kinds to migrate are served: it looks for new ones at its start, and every
 * 30 s only.
 */
export async function addInTreeMigrator(plane: Plane): Promise<Part> {
  const options = { controllers: CONTROLLERS, featureGates: [GATE] };
  const part = await addControllerManager(plane, options);
  await untilItKnowsTheKinds(part);
  return part;
}

/** Until then it puts every migration off, for longer and longer. */
export async function untilItKnowsTheKinds(part: Part): Promise<void> {
  await until('the garbage collector to have listed everything', () =>
    part.lastLines(LINES_SEARCHED).some((line) => line.includes('resource monitors have synced')),
  );
}

/**
 * Returns when it is over and storedVersions has been dealt with. It does not begin before the
 * garbage collector has seen something newer than the migration: any change of the kind, or a
 * bookmark, which comes within a minute, and is then looked at after 82 s in all, because it waits
 * twice as long from try to try. `isIdle` leaves it to that.
 */
export async function migrateInTree(
  kube: KubeClient,
  kind: VersionedKind,
  { isIdle = false } = {},
): Promise<Outcome> {
  const { object: created } = await kube.create(MIGRATIONS, {
    apiVersion: 'storagemigration.k8s.io/v1beta1',
    kind: 'StorageVersionMigration',
    metadata: { generateName: `${kind.plural}-` },
    spec: { resource: { group: GROUP, resource: kind.plural } },
  });
  const { name } = created.metadata;
  let now: Migration | undefined;
  const read = async (): Promise<Migration> => {
    now = (await kube.get(MIGRATIONS, { name })) as Migration;
    return now;
  };
  await until(
    `${name} to have its start`,
    async () => (await read()).status?.resourceVersion !== undefined,
  );
  if (!isIdle) await kind.touch('newer');
  await until(`${name} to end`, async () => isOver(await read()), MIGRATED_WITHIN_MS);
  const end = conditionsOf(now).find(({ type, status }) => type !== 'Running' && status === 'True');
  return { result: end?.type === 'Failed' ? 'Failed' : 'Succeeded', message: end?.message ?? '' };
}

const conditionsOf = (migration: Migration | undefined) => migration?.status?.conditions ?? [];

/** It ends first, then storedVersions is trimmed, then it stops to be called running. */
export function isOver(migration: Migration): boolean {
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
