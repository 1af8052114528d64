// Owner references follow the version in which the API server stores their owner, one look after
// the other, whoever else writes and whatever is refused.
import { expect, test } from 'vitest';
import { KubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject, OwnerReference } from '../../../shared/kube/objects.ts';
import { storageVersionHash } from '../../../shared/kube/storage-version.ts';
import { OwnerVersions } from '../../../shared/stateful/owner-versions.ts';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { HandClock } from '../../builders/hand-clock.ts';
import { KubeModel } from './kube-model.ts';

const DATABASES = {
  group: 'example.org',
  version: 'v1alpha1',
  resource: 'databases',
  kind: 'Database',
};
const [OLD, NEW] = ['example.org/v1alpha1', 'example.org/v1beta1'];
const MINUTE_MS = 60_000;

const ownedBy = (uid: string, apiVersion = OLD): OwnerReference => ({
  apiVersion,
  kind: 'Database',
  name: 'db',
  uid,
  controller: true,
});

/** The model, with a discovery that says what is stored. */
class Scene {
  readonly kube = new KubeModel();
  readonly clock = new HandClock();
  stores = 'v1beta1';
  served = ['v1beta1', 'v1alpha1'];
  asked = 0;
  discovery: () => void = () => undefined;

  constructor() {
    const raw = async ({ path }: { readonly path: string }) => {
      this.asked += 1;
      this.discovery();
      const hash = storageVersionHash('example.org', this.stores, 'Database');
      const resource = { name: 'databases', kind: 'Database', storageVersionHash: hash };
      const group = { versions: this.served.map((version) => ({ version })) };
      const answer = path === '/apis/example.org' ? group : { resources: [resource] };
      return { text: JSON.stringify(answer) };
    };
    Object.assign(this.kube, { raw });
  }

  part(name: string, owners: readonly OwnerReference[]): KubeObject {
    const metadata = { namespace: 'shop', name, labels: { a: 'b' }, ownerReferences: owners };
    return this.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data: { a: 'b' } });
  }

  /** A function that has read all parts comes to the end of its look. */
  look(owners: OwnerVersions, uid = 'o1'): Promise<readonly string[]> {
    for (const object of this.kube.of('secrets').values()) owners.note(SECRETS, object);
    const { signal } = new AbortController();
    return owners.renew({ kube: this.kube.client, clock: this.clock, signal }, uid);
  }

  versions(): readonly string[] {
    const all = [...this.kube.of('secrets').values()];
    return all.map(({ metadata }) => metadata.ownerReferences?.[0]?.apiVersion ?? '');
  }
}

test('a part names its owner in the stored version, and nothing else of it changes', async () => {
  const scene = new Scene();
  const other = { apiVersion: 'v1', kind: 'Secret', name: 'db-tls', uid: 's1' };
  const before = scene.part('db-config', [other, ownedBy('o1')]);
  expect(await scene.look(new OwnerVersions(DATABASES))).toEqual(['db-config']);
  const { resourceVersion: _, ...metadata } = before.metadata;
  expect(scene.kube.objects.get('secrets/shop/db-config')).toMatchObject({
    ...before,
    metadata: { ...metadata, ownerReferences: [other, ownedBy('o1', NEW)] },
  });
});

test('a part that is made names the stored version from the start', async () => {
  const scene = new Scene();
  const owners = new OwnerVersions(DATABASES);
  const deps = { kube: scene.kube.client, clock: scene.clock };
  const make = (more: object) =>
    owners.named(deps, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', ...more } });
  const other = { apiVersion: 'v1', kind: 'Secret', name: 'db-tls', uid: 's1' };
  const { metadata } = await make({ labels: {}, ownerReferences: [other, ownedBy('o1')] });
  const ownerReferences = [other, ownedBy('o1', NEW)];
  expect(metadata).toEqual({ name: 'a', labels: {}, ownerReferences });
  expect((await make({})).metadata).toEqual({ name: 'a' });
  expect((await make({ ownerReferences })).metadata).toEqual({ name: 'a', ownerReferences });
  expect(scene.asked).toBe(2);
  scene.stores = 'v2';
  await scene.clock.sleep(10 * MINUTE_MS);
  expect((await make({ ownerReferences })).metadata).toEqual({ name: 'a', ownerReferences });
});

test('a part that is applied names its owner as before, or the stored version if new', async () => {
  const scene = new Scene();
  const owners = new OwnerVersions(DATABASES);
  const deps = { kube: scene.kube.client, clock: scene.clock };
  const applied = async (): Promise<unknown> => {
    const metadata = { name: 'db', namespace: 'shop', ownerReferences: [ownedBy('o1')] };
    const part = { apiVersion: 'v1', kind: 'Secret', metadata };
    return (await owners.named(deps, part, SECRETS)).metadata.ownerReferences;
  };
  expect(await applied()).toEqual([ownedBy('o1', NEW)]);
  for (const version of [OLD, NEW]) {
    scene.part('db', [ownedBy('o2'), { ...ownedBy('o1', version), controller: false }]);
    expect(await applied()).toEqual([ownedBy('o1', version)]);
  }
});

test('where its group has one version, an apply reads no part', async () => {
  const scene = new Scene();
  const owners = new OwnerVersions(DATABASES);
  const metadata = { name: 'db', namespace: 'shop', ownerReferences: [ownedBy('o1')] };
  const part = { apiVersion: 'v1', kind: 'Secret', metadata };
  const apply = () => owners.named({ kube: scene.kube.client, clock: scene.clock }, part, SECRETS);
  await apply();
  expect(scene.kube.reads).toBe(1);
  [scene.served, scene.stores] = [['v1alpha1'], 'v1alpha1'];
  await scene.clock.sleep(10 * MINUTE_MS);
  expect((await apply()).metadata.ownerReferences).toEqual([ownedBy('o1')]);
  expect(scene.kube.reads).toBe(1);
});

test('what names it already, belongs to others, or ends, is not written', async () => {
  const scene = new Scene();
  scene.part('done', [ownedBy('o1', NEW)]);
  scene.part('of-another', [ownedBy('o2')]);
  scene.part('foreign', [ownedBy('o1', 'another.org/v1alpha1')]);
  scene.part('of-another-kind', [{ ...ownedBy('o1'), kind: 'DatabaseBackup' }]);
  const ending = scene.part('ending', [ownedBy('o1')]);
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  scene.kube.change(SECRETS, ending.metadata, { metadata: { deletionTimestamp } });
  expect(await scene.look(new OwnerVersions(DATABASES))).toEqual([]);
  expect(scene.kube.writes).toEqual([]);
});

test('a part of two owners names both in the stored version, by a look at either', async () => {
  for (const uid of ['o1', 'o2']) {
    const scene = new Scene();
    const { metadata } = scene.part('db', [ownedBy('o1'), ownedBy('o2')]);
    expect(await scene.look(new OwnerVersions(DATABASES), uid)).toEqual(['db']);
    const ownerReferences = [ownedBy('o1', NEW), ownedBy('o2', NEW)];
    expect(await scene.kube.get(SECRETS, metadata)).toMatchObject({
      metadata: { ownerReferences },
    });
  }
});

test('a look writes some of many, and the looks after it the others', async () => {
  const scene = new Scene();
  const owners = new OwnerVersions(DATABASES);
  for (let index = 0; index < 20; index += 1) scene.part(`db-${index}`, [ownedBy('o1')]);
  const written: number[] = [];
  for (let look = 0; look < 4; look += 1) written.push((await scene.look(owners)).length);
  expect(written).toEqual([8, 8, 4, 0]);
  expect(new Set(scene.versions())).toEqual(new Set([NEW]));
});

test.each<[string, (scene: Scene) => void]>([
  ['is stored in a version that is not served', (scene) => void (scene.stores = 'v2')],
  [
    'is not told to everybody',
    (scene) => {
      scene.discovery = () => {
        throw new KubeError('KUBE_FORBIDDEN', 'Not for you.', { verb: 'get', path: '/apis' });
      };
    },
  ],
])('nothing is written of a kind that %s', async (_, spoil) => {
  const scene = new Scene();
  spoil(scene);
  scene.part('db', [ownedBy('o1')]);
  const owners = new OwnerVersions(DATABASES);
  expect(await scene.look(owners)).toEqual([]);
  const { asked } = scene;
  for (let look = 0; look < 5; look += 1) expect(await scene.look(owners)).toEqual([]);
  expect(scene.versions()).toEqual([OLD]);
  expect(scene.asked).toBe(asked);
});

test('discovery is asked of what is there once in ten minutes', async () => {
  const scene = new Scene();
  const owners = new OwnerVersions(DATABASES);
  scene.part('db', [ownedBy('o1', NEW)]);
  for (let minute = 0; minute < 21; minute += 1) {
    await scene.look(owners);
    await scene.clock.sleep(MINUTE_MS);
  }
  // It is two pages each time, and no part is read for it, nor written.
  expect(scene.asked).toBe(2 * 3);
  expect(scene.kube.reads).toBe(0);
  expect(scene.kube.writes).toEqual([]);
});

test('a part that somebody changes, deletes or makes anew is left to the next look', async () => {
  const scene = new Scene();
  const owners = new OwnerVersions(DATABASES);
  const at = scene.part('db', [ownedBy('o1')]).metadata;
  const remove = (): void => scene.kube.remove(SECRETS, at);
  for (const meanwhile of [
    () => scene.kube.change(SECRETS, at, { metadata: { labels: { a: 'c' } } }),
    () => {
      remove();
      scene.part('db', [ownedBy('o1')]);
    },
    remove,
  ]) {
    scene.discovery = () => {
      scene.discovery = () => undefined;
      meanwhile();
    };
    expect(await scene.look(owners)).toEqual([]);
  }
  expect(scene.kube.writes).toEqual([]);
  scene.part('db', [ownedBy('o1')]);
  expect(await scene.look(owners)).toEqual(['db']);
});

test('a part that is read again is written as it was read last', async () => {
  const scene = new Scene();
  const owners = new OwnerVersions(DATABASES);
  for (let index = 0; index < 8; index += 1) scene.part(`db-${index}`, [ownedBy('o1')]);
  for (const [, object] of scene.kube.of('secrets')) owners.note(SECRETS, object);
  const at = { namespace: 'shop', name: 'db-3' };
  scene.kube.change(SECRETS, at, { metadata: { labels: { a: 'c' } } });
  expect(await scene.look(owners)).toHaveLength(8);
});

test('a part of which it is refused is tried again in an hour, and holds up no other', async () => {
  const scene = new Scene();
  const owners = new OwnerVersions(DATABASES);
  for (let index = 0; index < 12; index += 1) scene.part(`db-${index}`, [ownedBy('o1')]);
  let left = 8;
  scene.kube.aroundWrite = () => {
    left -= 1;
    if (left < 0) return;
    throw new KubeError('KUBE_FORBIDDEN', 'cannot set', { verb: 'patch', ref: SECRETS });
  };
  const looks: number[] = [];
  for (let look = 0; look < 3; look += 1) looks.push((await scene.look(owners)).length);
  await scene.clock.sleep(60 * MINUTE_MS);
  for (let look = 0; look < 2; look += 1) looks.push((await scene.look(owners)).length);
  expect(looks).toEqual([0, 4, 0, 0, 8]);
});

test('two that asked at other times do not take turns, on the way there and back', async () => {
  const scene = new Scene();
  scene.stores = 'v1alpha1';
  scene.part('db', [ownedBy('o1')]);
  const both = [new OwnerVersions(DATABASES), new OwnerVersions(DATABASES)];
  await scene.look(both[0] ?? new OwnerVersions(DATABASES));
  for (const stored of ['v1alpha1', 'v1beta1', 'v1alpha1']) {
    scene.stores = stored;
    for (let minute = 0; minute < 25; minute += 1) {
      await scene.clock.sleep(MINUTE_MS);
      // The second one begins later, and so asks later.
      const awake = stored === 'v1alpha1' && minute < 5 ? both.slice(0, 1) : both;
      for (const owners of awake) await scene.look(owners);
    }
    expect(scene.versions()).toEqual([`example.org/${stored}`]);
  }
  expect(scene.kube.writes).toEqual(['patch secrets db', 'patch secrets db']);
});

test('who writes the former version with a part is followed once for each', async () => {
  const scene = new Scene();
  const owners = new OwnerVersions(DATABASES);
  for (let change = 0; change < 3; change += 1) {
    // As a function of an older release does, for which owners are no difference.
    scene.part('db', [ownedBy('o1')]);
    for (let look = 0; look < 5; look += 1) await scene.look(owners);
  }
  expect(scene.versions()).toEqual([NEW]);
  expect(scene.kube.writes).toHaveLength(3);
});
