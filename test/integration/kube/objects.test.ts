// Objects through the door: nothing of them is lost, and nothing is written without its
// precondition.

import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { CRDS } from '../../../shared/kube/crds.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import {
  configMap,
  configMaps,
  namespace,
  read,
  thing,
  things,
  thingsCrd,
  withSharedPlane,
} from './world.ts';

let kube: KubeClient;
let kubeconfigPath: string;

withSharedPlane(async (plane, client) => {
  kube = client;
  ({ kubeconfigPath } = plane);
  await kube.apply(CRDS, thingsCrd, { force: true });
  await vi.waitFor(() => kube.list(things), { timeout: 10_000 });
});

beforeEach(() => kube.resetCounts());

describe('passing objects through', () => {
  test('fields that no schema and no type of ours knows survive read and write', async () => {
    const spec = {
      unknown: { deep: [{ a: null, when: '2026-01-01T00:00:00.123456Z' }, 1.5, true, '𝄞'] },
      'dotted.key/with-slash': '',
    };
    await kube.apply(things, thing('lossless', spec), { force: true });
    const before = await read(kube, things, 'lossless');
    await kube.update(things, { ...before, metadata: { ...before.metadata, labels: { a: 'b' } } });
    const after = await read(kube, things, 'lossless');
    expect(after['spec']).toEqual(spec);
    expect(after.metadata.labels).toEqual({ a: 'b' });
    expect(after.metadata.managedFields).toHaveLength(2);
  });

  test('integers that no JavaScript number holds keep every digit', async () => {
    const count = JSON.rawJSON('9007199254740993');
    await kube.apply(things, thing('big', { count, least: -9_007_199_254_740_991 }), {
      force: true,
    });
    const before = await read(kube, things, 'big');
    await kube.update(things, { ...before, metadata: { ...before.metadata, labels: { a: 'b' } } });
    const { group, version, resource } = things;
    const path = `/apis/${group}/${version}/namespaces/${namespace}/${resource}/big`;
    const { text } = await kube.raw({ method: 'GET', path, repeat: 'always' });
    expect(text).toContain('"count":9007199254740993,');
    expect(text).toContain('"least":-9007199254740991');
  });

  test('the items of a list say what they are, as objects read alone do', async () => {
    await kube.apply(configMaps, configMap('typed'), { force: true });
    const { items } = await kube.list(configMaps, {
      namespace,
      fieldSelector: 'metadata.name=typed',
    });
    expect(items).toEqual([await read(kube, configMaps, 'typed')]);
  });

  test('who asks for it is told of each object, and may write it in another way', async () => {
    const told: string[] = [];
    const door = openKube({
      kubeconfigPath,
      userAgent: 'test',
      fieldManager: 'test',
      onRead: ({ resource }, { metadata }) => void told.push(`read ${resource} ${metadata.name}`),
      onWrite: async (manifest, _, ref) => {
        told.push(`write ${manifest.metadata.name} to ${ref?.resource ?? 'what is new'}`);
        return { ...manifest, metadata: { ...manifest.metadata, labels: { told: 'yes' } } };
      },
    });
    await door.create(configMaps, configMap('told-1'));
    await door.apply(configMaps, configMap('told-2'), { force: true });
    await door.get(configMaps, { namespace, name: 'told-1' });
    await door.get(configMaps, { namespace, name: 'nobody' });
    const selection = { namespace, labelSelector: 'told=yes', limit: 1 };
    for await (const _ of door.pages(configMaps, selection)) continue;
    await door.close();
    expect(told).toEqual([
      'write told-1 to what is new',
      'write told-2 to configmaps',
      'read configmaps told-1',
      'read configmaps told-1',
      'read configmaps told-2',
    ]);
  });

  test('the metadata of an object can be read alone, and is that of the object', async () => {
    const spec = { secret: 'x' };
    const { metadata } = await kube.apply(things, thing('alone', spec), { force: true });
    const target = { namespace, name: 'alone' };
    const found = await kube.get(things, target, { metadataOnly: true });
    expect(found?.metadata).toMatchObject({ name: 'alone', uid: metadata.uid });
    expect(found?.metadata.resourceVersion).toBe(metadata.resourceVersion);
    expect(found).not.toHaveProperty('spec');
    const gone = { namespace, name: 'nobody' };
    expect(await kube.get(things, gone, { metadataOnly: true })).toBeNull();
  });

  test('a name with colons and dots finds its object', async () => {
    const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' };
    const name = 'ballast.dev:test:a.b';
    const manifest = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules: [],
    };
    await kube.apply(roles, manifest, { force: true });
    expect((await kube.get(roles, { name }))?.metadata.name).toBe(name);
  });

  test('what is not there is null, and a resource that is not there is an error', async () => {
    expect(await kube.get(configMaps, { namespace, name: 'absent' })).toBeNull();
    expect(await kube.get(configMaps, { namespace: 'absent', name: 'absent' })).toBeNull();
    const unknown = { ...things, resource: 'nothings' };
    await expect(kube.get(unknown, { namespace, name: 'a' })).rejects.toMatchObject({
      code: 'KUBE_NOT_FOUND',
    });
  });
});

describe('lists', () => {
  const labelSelector = 'list=paged';
  const names = Array.from({ length: 25 }, (_, index) => `page-${String(index).padStart(2, '0')}`);

  beforeAll(async () => {
    const labels = { list: 'paged' };
    for (const name of names) {
      const manifest = configMap(name);
      await kube.apply(
        configMaps,
        { ...manifest, metadata: { ...manifest.metadata, labels } },
        { force: true },
      );
    }
  });

  test('pages hold every object once, all as of the first page', async () => {
    const found: string[] = [];
    const versions = new Set<string>();
    for await (const page of kube.pages(configMaps, { namespace, labelSelector, limit: 10 })) {
      found.push(...page.items.map(({ metadata }) => metadata.name));
      versions.add(page.metadata.resourceVersion);
      const [first = ''] = names;
      const { uid } = (await read(kube, configMaps, first)).metadata;
      await kube.patch(
        configMaps,
        { namespace, name: first },
        { type: 'merge', body: { metadata: { uid }, data: { page: String(found.length) } } },
      );
    }
    expect(found).toEqual(names);
    expect(versions.size).toBe(1);
    expect(kube.counts().get('list configmaps')).toBe(3);
  });

  test('a list may be of a past moment', async () => {
    const before = await kube.list(configMaps, { namespace, labelSelector });
    await kube.apply(configMaps, configMap('page-24', { changed: 'yes' }), { force: true });
    const exact = before.metadata.resourceVersion;
    const again = await kube.list(configMaps, { namespace, labelSelector, freshness: { exact } });
    expect(again.metadata.resourceVersion).toBe(exact);
    expect(again.items).toEqual(before.items);
  });

  test('a read is at least as new as it was asked to be', async () => {
    const { metadata } = await kube.apply(configMaps, configMap('fresh', { at: `${Date.now()}` }), {
      force: true,
    });
    const notOlderThan = metadata.resourceVersion;
    const target = { namespace, name: 'fresh' };
    const object = await kube.get(configMaps, target, { freshness: { notOlderThan } });
    expect(object?.metadata.resourceVersion).toBe(notOlderThan);
    const future = { freshness: { notOlderThan: '999999999' }, timeoutMs: 4_000 };
    await expect(kube.list(configMaps, future)).rejects.toMatchObject({ code: 'KUBE_TIMEOUT' });
  });
});

describe('writes', () => {
  test('create by name gives the object that is there, and says that it is not new', async () => {
    const first = await kube.create(configMaps, configMap('once', { by: 'first' }));
    const second = await kube.create(configMaps, configMap('once', { by: 'second' }));
    expect([first.isNew, second.isNew]).toEqual([true, false]);
    expect(second.object).toEqual(first.object);
  });

  test('an apply takes fields from another manager only by force', async () => {
    await kube.apply(configMaps, configMap('owned', { a: 'x' }), { force: false });
    const other = { fieldManager: 'other' };
    const owned = configMap('owned', { a: 'y' });
    await expect(kube.apply(configMaps, owned, { ...other, force: false })).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      message: expect.stringContaining('.data.a'),
    });
    const object = await kube.apply(configMaps, owned, { ...other, force: true });
    expect(object['data']).toEqual({ a: 'y' });
  });

  test('an apply of a resourceVersion alone changes nothing, or conflicts', async () => {
    await kube.apply(configMaps, configMap('moved', { a: 'x' }), { force: true });
    const { metadata } = await read(kube, configMaps, 'moved');
    const { uid, resourceVersion } = metadata;
    const touch = {
      ...configMap('moved'),
      metadata: { name: 'moved', namespace, uid, resourceVersion },
    };
    const untouched = { apiVersion: touch.apiVersion, kind: touch.kind, metadata: touch.metadata };
    const options = { fieldManager: 'migration', force: false };
    const same = await kube.apply(configMaps, untouched, options);
    expect(same['data']).toEqual({ a: 'x' });
    await kube.apply(configMaps, configMap('moved', { a: 'z' }), { force: true });
    await expect(kube.apply(configMaps, untouched, options)).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
    });
  });

  test('an apply with the uid of another object is a conflict', async () => {
    const uid = '00000000-0000-4000-8000-000000000000';
    await kube.apply(things, thing('other'), { force: true });
    await kube.apply(configMaps, configMap('other'), { force: true });
    const { kind, apiVersion } = thing('other');
    const metadata = { name: 'other', namespace, uid };
    const options = { fieldManager: 'migration', force: false };
    const conflict = { code: 'KUBE_CONFLICT' };
    const applied = kube.apply(things, { apiVersion, kind, metadata }, options);
    await expect(applied).rejects.toMatchObject(conflict);
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    await expect(kube.apply(configMaps, manifest, options)).rejects.toMatchObject(conflict);
  });

  test('an update without a resourceVersion is not sent', async () => {
    const unread = {
      ...configMap('once'),
      metadata: { name: 'once', namespace, resourceVersion: '' },
    };
    expect(() => kube.update(configMaps, unread)).toThrow(/read it first/);
    expect(kube.counts().size).toBe(0);
  });

  test('each kind of patch does what it says', async () => {
    const target = { namespace, name: 'patched' };
    await kube.create(configMaps, configMap('patched', { a: '1', b: '2' }));
    await kube.patch(configMaps, target, { type: 'merge', body: { data: { a: null } } });
    const path = '/data/c';
    const body = [{ op: 'add', path, value: '3' }] as const;
    const object = await kube.patch(configMaps, target, { type: 'json', body });
    expect(object['data']).toEqual({ b: '2', c: '3' });
  });

  test('a dry run says what would be and changes nothing', async () => {
    await kube.apply(configMaps, configMap('dry'), { force: true, dryRun: true });
    expect(await kube.get(configMaps, { namespace, name: 'dry' })).toBeNull();
  });

  test('a sub-resource is created on its object', async () => {
    const accounts = { group: '', version: 'v1', resource: 'serviceaccounts' };
    await kube.create(accounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'token', namespace },
    });
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const target = { namespace, name: 'token', subresource: 'token' };
    const { status } = await kube.createSubresource(accounts, target, body);
    expect(status).toHaveProperty('token');
    expect(kube.counts().get('create serviceaccounts/token')).toBe(1);
  });
});

describe('deletes', () => {
  const target = (name: string) => ({ namespace, name });

  test('spare an object of the same name that came later', async () => {
    const { object } = await kube.create(configMaps, configMap('reborn'));
    const { uid } = object.metadata;
    expect(await kube.delete(configMaps, target('reborn'), { uid })).toBe('gone');
    expect(await kube.delete(configMaps, target('reborn'), { uid })).toBe('absent');
    await kube.create(configMaps, configMap('reborn'));
    await expect(kube.delete(configMaps, target('reborn'), { uid })).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
    });
    expect(await kube.get(configMaps, target('reborn'))).not.toBeNull();
  });

  test('spare an object that changed', async () => {
    const { object } = await kube.create(configMaps, configMap('changed'));
    await kube.apply(configMaps, configMap('changed', { a: 'b' }), { force: true });
    const { uid, resourceVersion } = object.metadata;
    const deletion = kube.delete(configMaps, target('changed'), { uid, resourceVersion });
    await expect(deletion).rejects.toMatchObject({ code: 'KUBE_CONFLICT' });
  });

  test('with an empty precondition are not sent', async () => {
    const deletion = kube.delete(configMaps, target('changed'), { uid: '' });
    await expect(deletion).rejects.toMatchObject({ code: 'INTERNAL_BUG' });
    expect(kube.counts().size).toBe(0);
  });

  test('do not take a resource that nobody knows for an object that is gone', async () => {
    const gone = kube.delete({ ...things, resource: 'unknowns' }, target('any'), { uid: 'u' });
    await expect(gone).rejects.toMatchObject({ code: 'KUBE_NOT_FOUND' });
  });

  test('say when something still holds the object', async () => {
    const held = configMap('held');
    const metadata = { ...held.metadata, finalizers: ['ballast.dev/test'] };
    await kube.create(configMaps, { ...held, metadata });
    const none = { precondition: 'none', because: 'the test made it' } as const;
    expect(await kube.delete(configMaps, target('held'), none)).toBe('deleting');
  });
});
