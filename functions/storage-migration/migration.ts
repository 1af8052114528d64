// A StorageMigration as it was read, in the terms of this function. Pure.
import type {
  MigrationTarget,
  Progress,
  StorageMigrationSpec,
  StorageMigrationStatus,
} from '../../shared/api/storage-migration.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { resourceName } from '../../shared/kube/paths.ts';
import type { Crd, Target } from './target.ts';

export interface Migration {
  /** As it was read. */
  readonly object: KubeObject;
  readonly name: string;
  readonly generation: number;
  readonly spec: StorageMigrationSpec;
  readonly status: StorageMigrationStatus;
}

export function migrationOf(object: KubeObject): Migration {
  // The API server holds both to their schema, and fills in the defaults.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec, status = {} } = object as unknown as {
    spec: StorageMigrationSpec;
    status?: StorageMigrationStatus;
  };
  const { name, generation = 0 } = object.metadata;
  return { object, name, generation, spec, status };
}

/** `widgets.demo.ballast.dev`, which is also the name of its CRD. */
export const resourceOf = ({ spec }: Migration): string => resourceName(spec.resource);

/** Built-in kinds keep all versions that were ever written, and a dry run writes nothing. */
export const cleansFields = ({ spec }: Migration, crd: object | undefined): boolean =>
  spec.cleanManagedFields && !spec.dryRun && crd !== undefined;

/** The names of the versions that the API server answers in. */
export const servedBy = ({ versions }: Crd): readonly string[] =>
  versions.filter(({ served }) => served).map(({ name }) => name);

/** What a migration that begins is about; another one of these begins it anew. */
export function begunWith(migration: Migration, { crd, kind, version }: Target): MigrationTarget {
  const { dryRun, mode } = migration.spec;
  const cleans = crd !== undefined && cleansFields(migration, crd);
  return {
    version,
    kind,
    dryRun,
    ...(mode === 'Ballast' ? {} : { mode }),
    ...(cleans ? { cleansManagedFields: true, servedVersions: servedBy(crd) } : {}),
    ...(crd === undefined ? {} : { crdUid: crd.uid, crdGeneration: crd.generation }),
  };
}

export const NO_PROGRESS: Progress = {
  total: 0,
  done: 0,
  changed: 0,
  current: 0,
  conflicts: 0,
  gone: 0,
  failed: 0,
};
