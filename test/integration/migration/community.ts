// The API of kube-storage-version-migrator, with nobody behind it: a definition of its shape, and
// the end of a migration as its controller would say it.
import type { KubeClient } from '../../../shared/kube/client.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { until } from '../../builders/versioned-kind.ts';

export const ORDERS: ResourceRef = {
  group: 'migration.k8s.io',
  version: 'v1alpha1',
  resource: 'storageversionmigrations',
};

const text = { type: 'string' };
const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['resource'],
      properties: {
        continueToken: text,
        resource: {
          type: 'object',
          properties: { group: text, version: text, resource: text },
        },
      },
    },
    status: {
      type: 'object',
      properties: {
        conditions: {
          type: 'array',
          items: {
            type: 'object',
            required: ['status', 'type'],
            properties: {
              lastUpdateTime: { ...text, format: 'date-time' },
              message: text,
              reason: text,
              status: text,
              type: text,
            },
          },
        },
      },
    },
  },
};

/** Returns when it is served. */
export async function defineCommunityApi(kube: KubeClient): Promise<void> {
  const { group, version, resource } = ORDERS;
  await kube.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${resource}.${group}`,
      // Without it the API server refuses definitions in groups of Kubernetes.
      annotations: {
        'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements/pull/747',
      },
    },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: resource, kind: 'StorageVersionMigration' },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: SCHEMA },
        },
      ],
    },
  });
  await until('the API of the migrator to be served', async () => {
    try {
      await kube.list(ORDERS, { limit: 1 });
      return true;
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return false;
      throw error;
    }
  });
}

export async function sayEnd(
  kube: KubeClient,
  { metadata: { name } }: KubeObject,
  type: 'Succeeded' | 'Failed',
  message = '',
): Promise<void> {
  const ended = { type, status: 'True', message, lastUpdateTime: new Date().toISOString() };
  const running = { ...ended, type: 'Running', status: 'False', message: '' };
  const body = { status: { conditions: [running, ended] } };
  await kube.patch(ORDERS, { name, subresource: 'status' }, { type: 'merge', body });
}
