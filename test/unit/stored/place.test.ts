// Where a key belongs, and under which prefix a resource is: each the other way round.
import { describe, expect, test } from 'vitest';
import { keyPrefixes, placeOf, resourceName, shownName } from '../../../shared/stored/place.ts';

const PREFIXES = ['/registry', '/kubernetes.io'];
const shown = (key: string, prefixes = PREFIXES): string | undefined => {
  const place = placeOf(key, prefixes);
  if (place === undefined) return undefined;
  const { group, resource } = place;
  const name = group === undefined ? `${resource}?` : resourceName({ group, resource });
  return `${name} ${shownName(place)}`;
};

describe('a key', () => {
  test.each([
    ['/registry/pods/web/frontend-1', 'pods web/frontend-1'],
    ['/kubernetes.io/pods/web/frontend-1', 'pods web/frontend-1'],
    ['/registry/namespaces/web', 'namespaces web'],
    ['/registry/minions/node-1', 'nodes node-1'],
    ['/registry/services/specs/web/api', 'services web/api'],
    ['/registry/services/endpoints/web/api', 'endpoints web/api'],
    ['/registry/controllers/web/old', 'replicationcontrollers web/old'],
    ['/registry/ingress/web/front', 'ingresses.networking.k8s.io web/front'],
    ['/registry/deployments/web/api', 'deployments.apps web/api'],
    ['/registry/masterleases/10.0.0.1', 'masterleases 10.0.0.1'],
    ['/registry/ranges/serviceips', 'ranges serviceips'],
    ['/registry/constructor/web/a', 'constructor? web/a'],
    ['/registry/example.com/widgets/web/w1', 'widgets.example.com web/w1'],
    ['/registry/example.com/clusterthings/one', 'clusterthings.example.com one'],
    [
      '/registry/apiregistration.k8s.io/apiservices/v1.apps',
      'apiservices.apiregistration.k8s.io v1.apps',
    ],
  ])('%s is of %s', (key, expected) => {
    expect(shown(key)).toBe(expected);
  });

  test.each(['/registryx/pods/a/b', '/other/pods/a/b', 'compact_rev_key', '', '/registry'])(
    '%j is elsewhere',
    (key) => {
      expect(shown(key)).toBeUndefined();
    },
  );

  test('is under a prefix that somebody chose', () => {
    expect(shown('/my/own/pods/web/a', ['/my/own'])).toBe('pods web/a');
  });
});

describe('a resource', () => {
  test.each([
    ['', 'pods', '/registry/pods/'],
    ['', 'nodes', '/registry/minions/'],
    ['', 'services', '/registry/services/specs/'],
    ['apps', 'deployments', '/registry/deployments/'],
    ['rbac.authorization.k8s.io', 'roles', '/registry/roles/'],
    ['example.com', 'roles', '/registry/example.com/roles/'],
    ['example.com', 'widgets', '/registry/example.com/widgets/'],
    [
      'apiextensions.k8s.io',
      'customresourcedefinitions',
      '/registry/apiextensions.k8s.io/customresourcedefinitions/',
    ],
  ])('%s/%s is under %s', (group, resource, prefix) => {
    expect(keyPrefixes({ group, resource }, ['/registry'])).toEqual([prefix]);
    expect(placeOf(`${prefix}a/b`, PREFIXES)).toMatchObject({ group, resource, name: 'b' });
  });
});
