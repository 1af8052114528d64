// Migrations and targets of the unit tests in this folder: each test says only what differs.
import { type Migration, migrationOf } from '../../../functions/storage-migration/migration.ts';
import {
  type Crd,
  crdOf,
  type CrdVersion,
  type Target,
} from '../../../functions/storage-migration/observe.ts';
import type {
  Progress,
  StorageMigrationSpec,
  StorageMigrationStatus,
} from '../../../shared/api/storage-migration.ts';

const SPEC: StorageMigrationSpec = {
  resource: { group: 'example.com', resource: 'widgets' },
  budget: { concurrency: 16 },
  mode: 'Ballast',
  trim: 'OnProof',
  pause: false,
  dryRun: false,
  retries: 2,
  verify: ['SecondPass'],
  cleanManagedFields: false,
};

export const PROGRESS: Progress = {
  total: 9,
  done: 9,
  changed: 0,
  current: 9,
  conflicts: 0,
  gone: 0,
  failed: 0,
};

const TARGET = { version: 'v1', kind: 'Widget', dryRun: false, crdUid: 'u1', crdGeneration: 2 };

/** In this phase, begun under the CRD below, which lists both versions. */
export const at = (
  phase: StorageMigrationStatus['phase'],
  more: StorageMigrationStatus = {},
): StorageMigrationStatus => ({
  observedGeneration: 1,
  ...(phase === undefined ? {} : { phase }),
  target: TARGET,
  storedVersions: ['v1alpha1', 'v1'],
  retriesLeft: 2,
  ...more,
});

export const PROOF = {
  oracle: 'SecondPass',
  version: 'v1',
  objects: 9,
  resourceVersion: '500',
  crdGeneration: 2,
  at: '2026-11-21T00:00:00Z',
} as const;

/** A migration that was trimmed on proof. */
export const DONE = at('Done', { proof: PROOF, storedVersions: ['v1'], trimmed: ['v1alpha1'] });

export const condition = (type: string, reason: string, message = 'Because.') =>
  ({ type, status: 'True', reason, message }) as const;

export interface MigrationChanges {
  readonly spec?: Partial<StorageMigrationSpec>;
  readonly status?: StorageMigrationStatus;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
}

export function migration(changes: MigrationChanges = {}): Migration {
  const { spec, status, generation = 1, deletionTimestamp } = changes;
  return migrationOf({
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'StorageMigration',
    metadata: {
      name: 'widgets.example.com',
      uid: 'm1',
      resourceVersion: '1',
      generation,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: { ...SPEC, ...spec },
    ...(status === undefined ? {} : { status }),
  });
}

export interface CrdChanges {
  readonly uid?: string;
  readonly generation?: number;
  readonly resourceVersion?: string;
  readonly storage?: string;
  readonly storedVersions?: readonly string[];
  readonly versions?: readonly string[];
  readonly unserved?: readonly string[];
}

export function crd(changes: CrdChanges = {}): Crd {
  const { storage = 'v1', versions = ['v1alpha1', 'v1'] } = changes;
  const { uid = 'u1', generation = 2, resourceVersion = '400' } = changes;
  const { storedVersions = ['v1alpha1', 'v1'] } = changes;
  const { unserved = [] } = changes;
  const of = (name: string): CrdVersion => ({
    name,
    served: !unserved.includes(name),
    storage: name === storage,
  });
  return crdOf({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com', uid, generation, resourceVersion },
    spec: { versions: versions.map(of) },
    status: { storedVersions },
  });
}

export function target(changes: CrdChanges = {}): Target {
  const { storage: version = 'v1' } = changes;
  const ref = { group: 'example.com', version, resource: 'widgets' };
  return { ref, kind: 'Widget', version, crd: crd(changes) };
}

/** As of a built-in kind. */
export const BUILT_IN: Target = {
  ref: { group: '', version: 'v1', resource: 'configmaps' },
  kind: 'ConfigMap',
  version: 'v1',
  crd: undefined,
};
