// Objects of the embedded cluster refer to each other as in a real one: pods belong to replica sets
// and those to deployments, and the endpoints of a service are its pods, also after they changed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { kwokSpec } from '../../../knative/try/local/plane/kwok.ts';
import { Population } from '../../../knative/try/local/population/population.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../../shared/kube/objects.ts';
import { startOwnPart } from '../../lanes/own-part.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

const WAIT = { timeout: 20_000, interval: 100 };
const PODS = 40;
const ref = (group: string, resource: string): ResourceRef => ({ group, version: 'v1', resource });

let kube: KubeClient;
let population: Population;
const errors: unknown[] = [];

beforeAll(async () => {
  const plane = sharedPlane();
  const { dir, kubeconfigPath } = plane;
  const [binary, port] = await Promise.all([resolvePart('kwok'), freePort()]);
  await startOwnPart(plane, kwokSpec({ binary, dir, port, kubeconfigPath }));
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  population = new Population(kube, { nodes: 3, pods: PODS, churnPerSecond: 0 });
  await population.fill();
  population.live((error) => errors.push(error));
});

afterAll(async () => {
  await population?.stop();
  await kube?.close();
});

async function all(resource: ResourceRef, labelSelector = ''): Promise<readonly KubeObject[]> {
  return (await kube.list(resource, { labelSelector })).items;
}

interface Slice {
  readonly endpoints:
    | null
    | readonly {
        readonly addresses: readonly string[];
        readonly nodeName: string;
        readonly targetRef: { readonly uid: string };
      }[];
}

/** One line per endpoint. */
async function endpoints(): Promise<readonly string[]> {
  const slices = await all(ref('discovery.k8s.io', 'endpointslices'), 'kubernetes.io/service-name');
  return slices
    .flatMap((slice) => (slice as unknown as Slice).endpoints ?? [])
    .map(({ addresses, nodeName, targetRef }) => `${targetRef.uid} ${addresses[0]} ${nodeName}`)
    .toSorted();
}

interface Pod {
  readonly spec: { readonly nodeName: string };
  readonly status: { readonly podIP: string };
}

/** The same line for each pod that the services select. */
async function served(): Promise<readonly string[]> {
  const lines = (await all(ref('', 'pods'), 'app=web')).map((pod) => {
    const { spec, status } = pod as unknown as Pod;
    return `${pod.metadata.uid} ${status.podIP} ${spec.nodeName}`;
  });
  return lines.toSorted();
}

test('each pod belongs to a deployment by way of a replica set', async () => {
  const controllerOf = ({ metadata }: KubeObject | undefined = missing()): string | undefined =>
    metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
  const sets = new Map(
    (await all(ref('apps', 'replicasets'))).map((one) => [one.metadata.uid, one]),
  );
  const deployments = (await all(ref('apps', 'deployments'))).map(({ metadata }) => metadata.uid);
  const pods = await all(ref('', 'pods'));
  expect(pods).toHaveLength(PODS);
  const owners = pods.map((pod) => controllerOf(sets.get(controllerOf(pod) ?? '')));
  expect(new Set(owners)).toEqual(new Set(deployments));
});

function missing(): never {
  throw new Error('an owner is not there');
}

test('each namespace has a service, whose endpoints are its pods, come and gone', async () => {
  const services = await all(ref('', 'services'), 'app=web');
  const namespaces = services.map(({ metadata }) => metadata.namespace);
  expect(new Set(namespaces)).toEqual(new Set(['media', 'payments', 'search', 'shop']));
  const webs = await served();
  expect(webs.length).toBeGreaterThan(services.length);
  await expect.poll(async () => [await endpoints(), await served()], WAIT).toSatisfy(areEqual);
  expect(await endpoints()).toHaveLength(webs.length);

  const [victim] = await all(ref('', 'pods'), 'app=web');
  const { name = '', namespace = '', uid = '' } = victim?.metadata ?? {};
  await kube.delete(ref('', 'pods'), { name, namespace }, { uid });
  await expect.poll(endpoints, WAIT).toHaveLength(webs.length - 1);
  expect((await endpoints()).filter((line) => line.startsWith(uid))).toEqual([]);
  expect(errors).toEqual([]);
});

const areEqual = ([a, b]: readonly (readonly string[])[]): boolean =>
  JSON.stringify(a) === JSON.stringify(b);
