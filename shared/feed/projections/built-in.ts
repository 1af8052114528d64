// The kinds that every feed knows by itself, and shows when it was told of none. It may be told of
// others; of those it shows who they are and the fields that were named.
import type { ResourceName } from '../subjects.ts';

export interface BuiltInKind {
  readonly resource: ResourceName;
  readonly ref: { readonly group: string; readonly version: string; readonly resource: string };
  readonly kind: string;
  readonly isNamespaced: boolean;
}

const builtIn = (api: string, resource: string, kind: string, isNamespaced = true): BuiltInKind => {
  const [version = '', group = ''] = api.split('/').toReversed();
  return { resource, ref: { group, version, resource }, kind, isNamespaced };
};

export const BUILT_IN: readonly BuiltInKind[] = [
  builtIn('v1', 'nodes', 'Node', false),
  builtIn('v1', 'namespaces', 'Namespace', false),
  builtIn('v1', 'pods', 'Pod'),
  builtIn('v1', 'services', 'Service'),
  builtIn('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice'),
  builtIn('apps/v1', 'deployments', 'Deployment'),
  builtIn('apps/v1', 'replicasets', 'ReplicaSet'),
  builtIn('apps/v1', 'statefulsets', 'StatefulSet'),
  builtIn('apps/v1', 'daemonsets', 'DaemonSet'),
  builtIn('batch/v1', 'jobs', 'Job'),
  builtIn('batch/v1', 'cronjobs', 'CronJob'),
];
