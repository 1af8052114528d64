// The kind that defines kinds.
import type { ResourceRef } from './objects.ts';

export const CRDS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
} as const satisfies ResourceRef;
