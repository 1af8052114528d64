// The webhook of these tests does to a real API server what it is told to do.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { GROUP, NAMESPACE, oldName, VersionedKind } from '../../builders/versioned-kind.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { ConversionWebhook } from './webhook.ts';

/** The first answer is the one that is looked at. */
const isOnce = true;
const [first, second] = [oldName(0), oldName(1)];

let kube: KubeClient;
let kind: VersionedKind;
let webhook: ConversionWebhook;

beforeAll(async () => {
  const plane = sharedPlane();
  const { kubeconfigPath } = plane;
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  webhook = await ConversionWebhook.start(plane);
  kind = new VersionedKind(plane, kube, 'gadgets', webhook.conversion);
  await kind.fill(2);
});

afterAll(async () => {
  await kube?.close();
  webhook?.die();
});

beforeEach(() => {
  webhook.behave({});
  webhook.conversions.length = 0;
});

async function read(name: string): Promise<KubeObject> {
  const found = await kube.get(kind.ref(), { namespace: NAMESPACE, name }, { isOnce });
  if (found === null) throw new Error(`${name} is not there`);
  return found;
}

test('it converts, and remembers which object it was asked for', async () => {
  const object = await read(first);
  expect(object['spec']).toEqual({ color: 'blue', payload: '', extra: { kept: first } });
  const [from, to] = [`${GROUP}/v1alpha1`, `${GROUP}/v1`];
  expect(webhook.conversions).toContainEqual({ name: first, uid: object.metadata.uid, from, to });
  expect((await kind.stored()).get(first)?.['spec']).toMatchObject({ colour: 'blue' });
});

test('it fails, and the API server says with what', async () => {
  webhook.behave({ failsWith: 500 });
  await expect(read(first)).rejects.toThrow('conversion webhook for migrate.example.com/v1alpha1');
});

test('it refuses one object and converts the other', async () => {
  webhook.behave({ refuses: [second] });
  await expect(read(second)).rejects.toThrow(`${second} cannot be converted`);
  expect((await read(first)).metadata.name).toBe(first);
});

test.each([
  ['review-uid', 'expected response.uid='],
  ['object-uid', 'must have the same UID'],
] as const)('the API server notices the lie %s', async (lie, says) => {
  webhook.behave({ lie });
  await expect(read(first)).rejects.toThrow(says);
});

test('nobody notices that it drops fields', async () => {
  webhook.behave({ lie: 'drop-extra' });
  expect((await read(first))['spec']).toEqual({ color: 'blue', payload: '' });
});

test('it dies in the middle, and comes back', async () => {
  webhook.behave({ diesAfter: 1 });
  expect((await read(first)).metadata.name).toBe(first);
  await expect(read(second)).rejects.toThrow('conversion webhook');
  await expect(read(first)).rejects.toThrow('connection refused');
  await webhook.comeBack();
  webhook.behave({});
  expect((await read(second)).metadata.name).toBe(second);
});

test('it takes its time', async () => {
  const delayMs = 300;
  webhook.behave({ delayMs });
  const startedMs = performance.now();
  await read(first);
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(delayMs - 5);
});
