// A StorageMigration as it was read, in the terms of this function. Pure.
import type {
  Progress,
  StorageMigrationSpec,
  StorageMigrationStatus,
} from '../../shared/api/storage-migration.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { type OwnObject, ownObjectOf } from '../../shared/kube/own-object.ts';
import { resourceName } from '../../shared/kube/paths.ts';

export type Migration = OwnObject<StorageMigrationSpec, StorageMigrationStatus>;

export const migrationOf: (object: KubeObject) => Migration = ownObjectOf;

/** `widgets.demo.ballast.dev`, which is also the name of its CRD. */
export const resourceOf = ({ spec }: Migration): string => resourceName(spec.resource);

/** Built-in kinds keep all versions that were ever written, and a dry run writes nothing. */
export const cleansFields = ({ spec }: Migration, crd: object | undefined): boolean =>
  spec.cleanManagedFields && !spec.dryRun && crd !== undefined;

export const NO_PROGRESS: Progress = {
  total: 0,
  done: 0,
  changed: 0,
  current: 0,
  conflicts: 0,
  gone: 0,
  failed: 0,
};
