// The status that a function writes, and the cost of its requests to the API server.

import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { setConditions } from '../../../shared/kube/conditions.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { writeStatus } from '../../../shared/kube/status.ts';
import {
  configMaps,
  namespace,
  openTestKube,
  read,
  thing,
  things,
  thingsCrd,
  withSharedPlane,
} from './world.ts';

let plane: PlaneAddress;
let kube: KubeClient;

withSharedPlane(async (started, client) => {
  [plane, kube] = [started, client];
  await kube.apply(CRDS, thingsCrd, { force: true });
  await vi.waitFor(() => kube.list(things), { timeout: 10_000 });
});

beforeEach(() => kube.resetCounts());

describe('status', () => {
  const ref = things;
  const ready = { type: 'Ready', status: 'True', reason: 'Up', message: 'It is up.' } as const;
  const writeCondition = (
    object: KubeObject,
    nowMs: number,
    status: 'True' | 'False' = 'True',
    fieldManager = 'fn',
  ) => {
    const conditions = setConditions(object, [{ ...ready, status }], { fieldManager, nowMs });
    return writeStatus(kube, { ref, object, status: { phase: status, conditions }, fieldManager });
  };
  const minute = 60_000;

  test('is written once, and again only when it changes', async () => {
    await kube.apply(things, thing('said'), { force: true });
    const first = await writeCondition(await read(kube, things, 'said'), minute);
    expect(first.isChanged).toBe(true);
    kube.resetCounts();
    const second = await writeCondition(await read(kube, things, 'said'), 2 * minute);
    expect(second.isChanged).toBe(false);
    expect(kube.counts()).toEqual(new Map([['get things.test.ballast.dev', 1]]));
    expect(second.object).toEqual(first.object);
    const third = await writeCondition(second.object, 3 * minute, 'False');
    expect(third.object['status']).toMatchObject({
      phase: 'False',
      conditions: [{ status: 'False', lastTransitionTime: '1970-01-01T00:03:00Z' }],
    });
  });

  test('of one function leaves the words of another alone', async () => {
    await kube.apply(things, thing('shared'), { force: true });
    const status = {
      conditions: [{ ...ready, type: 'Backed', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    };
    await writeStatus(kube, {
      ref,
      object: await read(kube, things, 'shared'),
      status,
      fieldManager: 'other',
    });
    const own = { conditions: [{ ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }] };
    const written = await writeStatus(kube, {
      ref,
      object: await read(kube, things, 'shared'),
      status: own,
      fieldManager: 'fn',
    });
    const types = (written.object['status'] as typeof own).conditions.map(({ type }) => type);
    expect(types.toSorted()).toEqual(['Backed', 'Ready']);
  });

  test('of one function does not hold on to what another takes back', async () => {
    await kube.apply(things, thing('given-up'), { force: true });
    const backed = { ...ready, type: 'Backed', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const other = async (conditions: readonly object[]) => {
      const object = await read(kube, things, 'given-up');
      return writeStatus(kube, { ref, object, status: { conditions }, fieldManager: 'other' });
    };
    const { object } = await other([backed]);
    await writeCondition(object, minute);
    const written = await other([]);
    expect(written.object['status']).toMatchObject({ conditions: [{ type: 'Ready' }] });
  });

  test('that somebody wrote into is taken back, and of what others say nothing', async () => {
    await kube.apply(things, thing('written-into'), { force: true });
    const sayAs = async (fieldManager: string, status: object) => {
      const object = await read(kube, things, 'written-into');
      return writeStatus(kube, { ref, object, status: { ...status }, fieldManager });
    };
    await sayAs('fn', { phase: 'Up', progress: { done: 1 } });
    await sayAs('backup', { backup: { at: 'noon' } });
    await sayAs('hand', { progress: { note: 'by hand' } });
    // Without `done` what is left of it is not valid, and nobody could take it back.
    const { object } = await sayAs('fn', { phase: 'Up' });
    expect(object['status']).toEqual({ phase: 'Up', backup: { at: 'noon' } });
  });

  test('of an object that moved is refused if so asked, of another object always', async () => {
    await kube.apply(things, thing('moving'), { force: true });
    const object = await read(kube, things, 'moving');
    await kube.apply(things, thing('moving', { size: 2 }), { force: true });
    const write = { ref, object, status: { phase: 'Up' }, fieldManager: 'fn' };
    await expect(writeStatus(kube, { ...write, ifUnmoved: true })).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
    });
    expect((await writeStatus(kube, write)).isChanged).toBe(true);
    await kube.delete(things, { namespace, name: 'moving' }, { uid: object.metadata.uid });
    await kube.apply(things, thing('moving'), { force: true });
    await expect(writeStatus(kube, write)).rejects.toMatchObject({ code: 'KUBE_CONFLICT' });
  });
});

describe('a status that is refused for an object that moved', () => {
  const fieldManager = 'fn';
  const write = (object: KubeObject) =>
    writeStatus(kube, {
      ref: things,
      object,
      status: { phase: 'Up' },
      fieldManager,
      ifUnmoved: true,
    });

  test('is written while a client annotates the object all the time', async () => {
    await kube.apply(things, thing('annotated'), { force: true });
    const object = await read(kube, things, 'annotated');
    const body = { metadata: { annotations: { 'example.com/touched': 'again' } } };
    await kube.patch(things, { namespace, name: 'annotated' }, { type: 'merge', body });
    const written = await write(object);
    expect(written.object).toMatchObject({ ...body, status: { phase: 'Up' } });
  });

  test.each([
    ['whose status somebody else wrote', 'Down'],
    ['whose status somebody else wrote alike', 'Up'],
  ])('is refused for one %s', async (_, phase) => {
    const name = `written-${phase.toLowerCase()}`;
    await kube.apply(things, thing(name), { force: true });
    const object = await read(kube, things, name);
    await writeStatus(kube, { ref: things, object, status: { phase }, fieldManager: 'other' });
    await expect(write(object)).rejects.toMatchObject({ code: 'KUBE_CONFLICT' });
  });

  test('is refused for one with another annotation of ours, since these steer', async () => {
    await kube.apply(things, thing('steered'), { force: true });
    const object = await read(kube, things, 'steered');
    const body = { metadata: { annotations: { 'ballast.dev/etcd-cluster-id': '1' } } };
    await kube.patch(things, { namespace, name: 'steered' }, { type: 'merge', body });
    await expect(write(object)).rejects.toMatchObject({ code: 'KUBE_CONFLICT' });
  });

  test('is refused for one that is being deleted', async () => {
    const { metadata, ...rest } = thing('ending');
    const held = { ...metadata, finalizers: ['example.com/held'] };
    await kube.apply(things, { ...rest, metadata: held }, { force: true });
    const object = await read(kube, things, 'ending');
    await kube.delete(things, { namespace, name: 'ending' }, { uid: object.metadata.uid });
    await expect(write(object)).rejects.toMatchObject({ code: 'KUBE_CONFLICT' });
    const body = { metadata: { finalizers: null } };
    await kube.patch(things, { namespace, name: 'ending' }, { type: 'merge', body });
  });
});

describe('the cost', () => {
  test('a hundred calls at once share a few connections, as does the next hundred', async () => {
    const fresh = openTestKube(plane);
    const get = () => fresh.get(configMaps, { namespace, name: 'any' });
    await Promise.all(Array.from({ length: 100 }, get));
    const opened = fresh.connectionsOpened;
    expect(opened).toBeLessThanOrEqual(8);
    await Promise.all(Array.from({ length: 100 }, get));
    expect(fresh.connectionsOpened).toBe(opened);
    expect(fresh.counts()).toEqual(new Map([['get configmaps', 200]]));
    await fresh.close();
  });

  test('a kind is looked up once', async () => {
    expect(await kube.resourceFor('apps/v1', 'Deployment')).toMatchObject({
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      isNamespaced: true,
    });
    expect(await kube.resourceFor('apps/v1', 'DaemonSet')).toMatchObject({
      resource: 'daemonsets',
    });
    expect(await kube.resourceFor('v1', 'Node')).toMatchObject({
      group: '',
      resource: 'nodes',
      isNamespaced: false,
    });
    expect(await kube.resourceFor('absent.dev/v1', 'Thing')).toBeUndefined();
    expect(kube.counts().get('get /apis/apps/v1')).toBe(1);
  });

  test('a client that is closed says so', async () => {
    const closed = openTestKube(plane);
    await closed.get(configMaps, { namespace, name: 'any' });
    await closed.close();
    await expect(closed.get(configMaps, { namespace, name: 'any' })).rejects.toMatchObject({
      code: 'KUBE_CLOSED',
    });
  });
});
