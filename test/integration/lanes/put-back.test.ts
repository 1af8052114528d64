// The files of a lane share a plane, so each must find it as the first one did: not only objects
// go, but definitions, what a finalizer holds, and every change to what was there at first.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { putBack, readState } from '../../lanes/etcd-state.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

const namespace = 'default';
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' };
const cups = { group: 'lanes.example.com', version: 'v1', resource: 'cups' };
const because = 'the test made it';

let plane: PlaneAddress;
let etcdUrl: string;
let kube: KubeClient;

beforeAll(() => {
  plane = sharedPlane();
  etcdUrl = plane.part('etcd').url;
  const { kubeconfigPath } = plane;
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
});

afterAll(async () => {
  await kube?.close();
});

const configMap = (name: string, finalizers: readonly string[] = []) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, finalizers },
});

/** Returns when it is served, with an object that it defines. */
async function defineCups(): Promise<void> {
  const [name, kind] = ['cups.lanes.example.com', 'Cup'];
  const schema = { openAPIV3Schema: { type: 'object' } };
  await kube.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group: cups.group,
      scope: 'Namespaced',
      names: { plural: cups.resource, kind },
      versions: [{ name: cups.version, served: true, storage: true, schema }],
    },
  });
  const cup = { apiVersion: 'lanes.example.com/v1', kind, metadata: { name: 'one', namespace } };
  await expect.poll(() => kube.create(cups, cup).then(...made), { timeout: 10_000 }).toBe('made');
}

const made = [() => 'made', (error: { code: string }) => error.code] as const;

test('what was made, changed and deleted is as before, and the API server knows it', async () => {
  const before = await readState(etcdUrl);
  const view = await kube.get(roles, { name: 'view' });
  await defineCups();
  await kube.create(configMaps, configMap('held', ['ballast.dev/test']));
  const annotations = { changed: 'yes' };
  const body = { metadata: { annotations } };
  await kube.patch(roles, { name: 'view' }, { type: 'merge', body });
  await kube.delete(roles, { name: 'edit' }, { precondition: 'none', because });

  await putBack(etcdUrl, before);
  await expect(kube.list(cups)).rejects.toMatchObject({ code: 'KUBE_NOT_FOUND' });
  expect(await kube.get(configMaps, { namespace, name: 'held' })).toBeNull();
  expect((await kube.get(roles, { name: 'view' }))?.metadata).toMatchObject({
    uid: view?.metadata.uid,
    annotations: view?.metadata.annotations,
  });
  expect(await kube.get(roles, { name: 'edit' })).not.toBeNull();
  expect(await readState(etcdUrl)).toEqual(before);

  // The next file may have a kind of the same name, and none of its objects.
  await defineCups();
  expect((await kube.list(cups)).items).toHaveLength(1);
  await putBack(etcdUrl, before);
});

test('what does not become as it was is named', async () => {
  const before = await readState(etcdUrl);
  // The API server makes most of these itself, and takes them away when it has noticed.
  const services = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' };
  const name = 'v1.left.example.com';
  await kube.create(services, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name },
    spec: {
      group: 'left.example.com',
      version: 'v1',
      groupPriorityMinimum: 1_000,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
      service: { namespace, name: 'nobody' },
    },
  });
  await expect(putBack(etcdUrl, before, 500)).rejects.toThrow(
    `the plane does not become as it was: /registry/apiregistration.k8s.io/apiservices/${name}`,
  );
  await kube.delete(services, { name }, { precondition: 'none', because });
  await putBack(etcdUrl, before);
});
