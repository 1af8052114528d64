// What one migration needs in the cluster: the rights on just the kind that it is about, bound to
// the function's account, and the StorageMigration itself.
import {
  type Mode,
  ORDER_GROUPS,
  ORDERS,
  type OtherMode,
} from '../../shared/api/storage-migration.ts';
import type { Manifest } from '../../shared/kube/objects.ts';

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

/** `widgets.demo.ballast.dev`, as kubectl says it, which is the name of its CRD too. */
const nameOf = ({ group, resource }: Pick<MigrationRequest, 'group' | 'resource'>): string =>
  group === '' ? resource : `${resource}.${group}`;

/** A CRD's group has a dot in it. */
const mayHaveCrd = (group: string): boolean => group.includes('.');

export function rightsFor(request: MigrationRequest): readonly Manifest[] {
  const { group, resource, namespace, mode } = request;
  const name = `ballast-storage-migration.${nameOf(request)}`;
  const ofCrd = {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions/status'],
    resourceNames: [nameOf(request)],
    verbs: ['patch'],
  };
  const rules = [
    { apiGroups: [group], resources: [resource], verbs: ['get', 'list', 'patch'] },
    ...(mayHaveCrd(group) ? [ofCrd] : []),
    ...(mode === 'Ballast' ? [] : [ordersOf(mode)]),
  ];
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

/** Of another migrator: made, and looked at. */
const ordersOf = (mode: OtherMode) => ({
  apiGroups: [ORDER_GROUPS[mode]],
  resources: [ORDERS],
  verbs: ['create', 'get'],
});

export function migrationFor(request: MigrationRequest): Manifest {
  const { group, resource, dryRun, trim, mode, verifiesEtcd } = request;
  return {
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'StorageMigration',
    metadata: { name: nameOf(request), labels },
    spec: {
      resource: { group, resource },
      ...(mode === 'Ballast' ? {} : { mode }),
      ...(dryRun ? { dryRun } : {}),
      ...(trim === 'OnProof' ? {} : { trim }),
      ...(verifiesEtcd ? { verify: ['SecondPass', 'Etcd'] } : {}),
    },
  };
}
