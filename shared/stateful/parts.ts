// The kinds of objects of which servers in pods consist. Pure.
import type { ResourceRef } from '../kube/objects.ts';

const core = (resource: string): ResourceRef => ({ group: '', version: 'v1', resource });

export const SECRETS = core('secrets');
export const SERVICES = core('services');
export const PODS = core('pods');
export const CLAIMS = core('persistentvolumeclaims');
export const STATEFUL_SETS = { group: 'apps', version: 'v1', resource: 'statefulsets' } as const;
export const NETWORK_POLICIES = {
  group: 'networking.k8s.io',
  version: 'v1',
  resource: 'networkpolicies',
} as const;
export const BUDGETS = {
  group: 'policy',
  version: 'v1',
  resource: 'poddisruptionbudgets',
} as const;
