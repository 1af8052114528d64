// Addresses on the API server: names with dots and colons, and names that are none.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../../builders/any-text.ts';
import { Failure } from '../../../shared/errors.ts';
import {
  describeObject,
  type Place,
  resourceName,
  resourcePath,
  withQuery,
} from '../../../shared/kube/paths.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
const clusterRoles = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource: 'clusterroles',
};

describe('resourcePath', () => {
  const rows: readonly [string, typeof pods, Place][] = [
    ['/api/v1/pods', pods, {}],
    ['/api/v1/namespaces/web/pods', pods, { namespace: 'web' }],
    ['/api/v1/namespaces/web/pods/a.b.c', pods, { namespace: 'web', name: 'a.b.c' }],
    [
      '/apis/apps/v1/namespaces/web/deployments/front/status',
      deployments,
      { namespace: 'web', name: 'front', subresource: 'status' },
    ],
    [
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
      clusterRoles,
      { name: 'system:node' },
    ],
  ];
  test.each(rows)('%s', (path, ref, place) => {
    expect(resourcePath(ref, place)).toBe(path);
  });

  test.each(['', '.', '..', 'a/b', '../secrets', '%2e%2e'])(
    'the name %j is refused: it would address something else',
    (name) => {
      expect(() => resourcePath(pods, { namespace: 'web', name })).toThrow(
        expect.objectContaining({ code: 'KUBE_NAME_INVALID' }),
      );
    },
  );

  test('no name reaches beyond its place in the path', () => {
    fc.assert(
      fc.property(anyText(), (name) => {
        const path = pathOrRefusal(name);
        if (path === 'KUBE_NAME_INVALID') return;
        const { pathname, search, hash } = new URL(path, 'https://api');
        expect([search, hash]).toEqual(['', '']);
        expect(pathname.startsWith('/api/v1/namespaces/web/pods/')).toBe(true);
        expect(decodeURIComponent(pathname.split('/').slice(6).join('/'))).toBe(name);
      }),
    );
  });
});

function pathOrRefusal(name: string): string {
  try {
    return resourcePath(pods, { namespace: 'web', name });
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
}

test('a query leaves out what is not given and encodes what is', () => {
  const query = { labelSelector: 'a in (b,c)', limit: undefined, watch: true };
  expect(withQuery('/api/v1/pods', query)).toBe(
    '/api/v1/pods?labelSelector=a+in+%28b%2Cc%29&watch=true',
  );
  expect(withQuery('/api/v1/pods', {})).toBe('/api/v1/pods');
});

test('resources and objects are called as kubectl calls them', () => {
  expect(resourceName(deployments, 'status')).toBe('deployments.apps/status');
  expect(describeObject(pods, { namespace: 'web', name: 'front-1' })).toBe('pods web/front-1');
  expect(describeObject(clusterRoles, {})).toBe('clusterroles.rbac.authorization.k8s.io');
});
