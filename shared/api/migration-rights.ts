// The rights that the function needs for one migration, and the name of its mode on a command line.
// The same list is printed for an administrator to grant and checked before the first write.
import { type Mode, ORDER_GROUPS, ORDERS } from './storage-migration.ts';

/** A rule of RBAC. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** The one object that the right is about; all objects when absent. */
  readonly name?: string;
  readonly verbs: readonly string[];
}

export interface MigratedKind {
  readonly group: string;
  readonly resource: string;
  readonly mode: Mode;
  /** The CRD whose stored versions are trimmed; undefined for a built-in kind. */
  readonly crdName: string | undefined;
}

export function rightsOf({ group, resource, mode, crdName }: MigratedKind): readonly Right[] {
  return [
    { group, resource, verbs: ['get', 'list', 'patch'] },
    ...(crdName === undefined ? [] : [statusOf(crdName)]),
    // Another migrator's orders are made, and looked at.
    ...(mode === 'Ballast'
      ? []
      : [{ group: ORDER_GROUPS[mode], resource: ORDERS, verbs: ['create', 'get'] }]),
  ];
}

/** The same right puts a version back that was taken off without proof. */
const statusOf = (name: string): Right => ({
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
  subresource: 'status',
  name,
  verbs: ['patch'],
});

/** The ClusterRole with the rights on one kind; the kind as `widgets.example.com`. */
export const roleNameOf = (kind: string): string => `ballast-storage-migration.${kind}`;

/**
 * With it the function makes the StorageMigration the owner of the role that grants it, so that
 * both end together. The API server lets nobody write a right into a role that he has not himself.
 */
export const ownRoleRight = (kind: string): Right => ({
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterroles',
  name: roleNameOf(kind),
  verbs: ['get', 'patch'],
});

/** As `npm run migrate -- --mode` takes them. */
export const MODE_OPTIONS: Readonly<Record<Mode, string>> = {
  Ballast: 'ballast',
  InTree: 'in-tree',
  Community: 'community',
};
