// What the function needs to be allowed for one migration, and how its mode is named on a command
// line: what is printed to be granted, and what is asked for before the first write, are the same.
import { type Mode, ORDER_GROUPS, ORDERS } from './storage-migration.ts';

/** A rule of RBAC. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Of the one object that it is about; all when absent. */
  readonly name?: string;
  readonly verbs: readonly string[];
}

export interface MigratedKind {
  readonly group: string;
  readonly resource: string;
  readonly mode: Mode;
  /** Of a CRD whose list of stored versions is to be set; undefined where there is none. */
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

/** It is also how a version that was taken off without proof comes back. */
const statusOf = (name: string): Right => ({
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
  subresource: 'status',
  name,
  verbs: ['patch'],
});

/** As `npm run migrate -- --mode` takes them. */
export const MODE_OPTIONS: Readonly<Record<Mode, string>> = {
  Ballast: 'ballast',
  InTree: 'in-tree',
  Community: 'community',
};
