// The manifests of one migration: rights on just its kind, bound to the function's account, and the
// StorageMigration itself.
import {
  ownRoleRight,
  type Right,
  rightsOf,
  roleNameOf,
} from '../../../shared/api/migration-rights.ts';
import { apiVersionOf, type Version, WRITTEN } from '../../../shared/kube/own-kinds/versions.ts';
import type { Mode } from '../../../shared/api/storage-migration.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { resourceName } from '../../../shared/kube/paths.ts';

export interface MigrationRequest {
  readonly group: string;
  readonly resource: string;
  readonly dryRun: boolean;
  readonly trim: 'OnProof' | 'Never';
  readonly mode: Mode;
  readonly verifiesEtcd: boolean;
  /** Where the function runs. */
  readonly namespace: string;
}

const RBAC = 'rbac.authorization.k8s.io';
const ACCOUNT = 'storage-migration';
const labels = {
  'app.kubernetes.io/name': 'storage-migration',
  'app.kubernetes.io/part-of': 'ballast',
};

/** A CRD's group has a dot in it. */
const mayHaveCrd = (group: string): boolean => group.includes('.');

interface Lifetime {
  /** For a CRD that asks again and again; others end with their StorageMigration. */
  readonly doStay?: boolean;
}

export function rightsFor(
  request: MigrationRequest,
  { doStay = false }: Lifetime = {},
): readonly Manifest[] {
  const { group, resource, namespace, mode } = request;
  // It is the name of its CRD, too.
  const kind = resourceName(request);
  const name = roleNameOf(kind);
  const crdName = mayHaveCrd(group) ? kind : undefined;
  const rights = rightsOf({ group, resource, mode, crdName });
  const rules = [...rights, ...(doStay ? [] : [ownRoleRight(kind)])].map(ruleOf);
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name, labels }, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name, labels },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }],
    },
  ];
}

const ruleOf = ({ group, resource, subresource, name, verbs }: Right) => ({
  apiGroups: [group],
  resources: [resourceName({ group: '', resource }, subresource)],
  ...(name === undefined ? {} : { resourceNames: [name] }),
  verbs,
});

export function migrationFor(request: MigrationRequest, own: Version = WRITTEN): Manifest {
  const { group, resource, dryRun, trim, mode, verifiesEtcd } = request;
  return {
    apiVersion: apiVersionOf(own),
    kind: 'StorageMigration',
    metadata: { name: resourceName(request), labels },
    spec: {
      resource: { group, resource },
      ...(mode === 'Ballast' ? {} : { mode }),
      ...(dryRun ? { dryRun } : {}),
      ...(trim === 'OnProof' ? {} : { trim }),
      ...(verifiesEtcd ? { verify: ['SecondPass', 'Etcd'] } : {}),
    },
  };
}
