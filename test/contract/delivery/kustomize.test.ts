// Our reading of the manifests agrees with what `kubectl apply -k` would apply, as far as anything
// here depends on it, and the API server takes it.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readKustomization } from '../../../knative/try/local/manifests/documents.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { type Api, openApi } from './support/api.ts';

const ROOT = fileURLToPath(new URL('../../../knative', import.meta.url));
const PATHS: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  ConfigMap: '/api/v1/namespaces/{namespace}/configmaps',
  NetworkPolicy: '/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies',
  ServiceAccount: '/api/v1/namespaces/ballast-system/serviceaccounts',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  FlowSchema: '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  ValidatingAdmissionPolicy: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding:
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
  MetadataFeed: '/apis/ballast.dev/v1alpha1/namespaces/{namespace}/metadatafeeds',
};
/** A kind is served a moment after its definition was taken. */
const WAIT = { timeout: 10_000 };

let plane: PlaneAddress;
let api: Api;

beforeAll(async () => {
  plane = sharedPlane();
  api = await openApi(plane);
});

afterAll(async () => {
  await api?.close();
});

test.each(['', '/feeds'])('knative%s reads as kubectl renders it', async (dir) => {
  const rendered = [...parseAllDocuments(await render(`${ROOT}${dir}`))].map((document) =>
    document.toJS(),
  );
  const read = (await readKustomization(ROOT, `${ROOT}${dir}`)).map(({ value }) => value);
  // kubectl puts namespaces and accounts first, names the image's tag, and a hash of settings.
  const sorted = (objects: readonly unknown[]): readonly string[] =>
    objects.map((object) => JSON.stringify(inOrder(object))).toSorted();
  expect(sorted(read)).toEqual(sorted(rendered));
});

/** The binding of a policy named settings that nobody has, and each Job of a backup was refused. */
test('whatever names the settings names them with their hash', async () => {
  const named = (await render(ROOT)).match(/(?<=: )ballast-settings.*/g) ?? [];
  expect([...new Set(named)]).toEqual([expect.stringMatching(/^ballast-settings-\w+$/)]);
});

async function render(dir: string): Promise<string> {
  const kubectl = await resolvePart('kubectl');
  return (await promisify(execFile)(kubectl, ['kustomize', dir])).stdout;
}

test('the API server takes every object that is to be applied', async () => {
  for (const { object } of (await loadWiring(ROOT)).objects) {
    const path = PATHS[object.kind]?.replace('{namespace}', object.metadata.namespace ?? '');
    if (path === undefined) throw new Error(`the test does not know where a ${object.kind} goes`);
    const create = (): Promise<unknown> =>
      api.create(`${path}?fieldValidation=Strict`, object).catch((error: unknown) => error);
    await expect.poll(create, WAIT).toBeUndefined();
  }
});

/** With the fields of each object in alphabetical order, without an image's tag or that hash. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value === 'string') {
    return value.replace(/^(dev\.local\/ballast\/[a-z-]+):.*$|^(ballast-settings)-.*$/, '$1$2');
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, inOrder(inner)]));
}
