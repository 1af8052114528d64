// A get of the narrow cache: its answers, its cost, and what it leaves behind.
import { describe, expect, test } from 'vitest';
import { CRDS } from '../../../../shared/kube/crds.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { configMap, configMaps, thing, things, thingsCrd } from '../world.ts';
import { follow, metricOf, named, remove, type Rig, valueIn, withRigEach, write } from './rig.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
const secrets = { group: '', version: 'v1', resource: 'secrets' };

let admin: KubeClient;
let rig: Rig;

const reopen = withRigEach((given) => {
  ({ admin, rig } = given);
});

const calls = () => Object.fromEntries(rig.kube.counts());

describe('a get', () => {
  test('costs one request for the first, none for the next, and sees each change', async () => {
    await write(admin, 'plain', '1');
    expect(await valueIn(rig, 'plain')).toBe('1');
    for (let count = 0; count < 1_000; count += 1) await valueIn(rig, 'plain');
    expect(calls()).toEqual({ 'watch configmaps': 1 });
    expect(metricOf(rig, 'gets_total')).toBe(1_001);
    await write(admin, 'plain', '2');
    await expect.poll(() => valueIn(rig, 'plain')).toBe('2');
    expect(calls()).toEqual({ 'watch configmaps': 1 });
  });

  test('of an absent object is remembered too, until it is created', async () => {
    expect(await valueIn(rig, 'absent')).toBeNull();
    expect(await valueIn(rig, 'absent')).toBeNull();
    expect(calls()).toEqual({ 'watch configmaps': 1 });
    await write(admin, 'absent', 'created');
    await expect.poll(() => valueIn(rig, 'absent')).toBe('created');
  });

  test('of an object that is deleted between get and watch is no phantom', async () => {
    // Each round meets the gap between reading and watching elsewhere, if there is one.
    const left = Array.from({ length: 20 }, async (_, round) => {
      const name = `phantom-${round}`;
      await write(admin, name, '1');
      await Promise.all([valueIn(rig, name), remove(admin, name)]);
      await expect.poll(() => valueIn(rig, name)).toBeNull();
    });
    await Promise.all(left);
  });

  test('of an object that was deleted and made anew has the new uid', async () => {
    await write(admin, 'again', '1');
    const before = await rig.cache.get(configMaps, named('again'));
    await remove(admin, 'again');
    await write(admin, 'again', '1');
    const uid = async () =>
      (await rig.cache.get(configMaps, named('again')))?.metadata.uid ?? before?.metadata.uid;
    await expect.poll(uid).not.toBe(before?.metadata.uid);
  });

  test('asked by many at once makes one watch, and all see the same object', async () => {
    await write(admin, 'flight', '1');
    const flights = Array.from({ length: 20 }, () => rig.cache.get(configMaps, named('flight')));
    const [first, ...others] = await Promise.all(flights);
    for (const other of others) expect(other).toBe(first);
    expect(calls()).toEqual({ 'watch configmaps': 1 });
  });

  test('whose caller gives up does not end the watch of the others', async () => {
    await write(admin, 'deadline', '1');
    const impatient = new AbortController();
    const given = rig.cache.get(configMaps, named('deadline'), { signal: impatient.signal });
    const patient = valueIn(rig, 'deadline');
    const reason = new Error('the deadline of the caller');
    impatient.abort(reason);
    await expect(given).rejects.toBe(reason);
    expect(await patient).toBe('1');
    await write(admin, 'deadline', '2');
    await expect.poll(() => valueIn(rig, 'deadline')).toBe('2');
    expect(calls()).toEqual({ 'watch configmaps': 1 });
  });

  test('gives an object that nobody can change, without its managedFields', async () => {
    await write(admin, 'frozen', '1');
    const object = await rig.cache.get(configMaps, named('frozen'));
    expect(object?.metadata).not.toHaveProperty('managedFields');
    expect(() => Object.assign(object?.['data'] as object, { value: '2' })).toThrow(TypeError);
    // An object that a watch brings is kept like those that were there first.
    await write(admin, 'frozen', '2');
    await expect.poll(() => valueIn(rig, 'frozen')).toBe('2');
    const changed = await rig.cache.get(configMaps, named('frozen'));
    expect(changed?.metadata).not.toHaveProperty('managedFields');
    expect(Object.isFrozen(changed?.['data'])).toBe(true);
  });

  test('of a name that cannot be is refused, and a closed cache says so', async () => {
    const refused = rig.cache.get(configMaps, named('a/b'));
    const invalid = { code: 'KUBE_NAME_INVALID' };
    await expect(refused).rejects.toMatchObject(invalid);
    expect(() => follow(rig, 'a/b')).toThrow(expect.objectContaining(invalid));
    rig.cache.close();
    await expect(valueIn(rig, 'a')).rejects.toMatchObject({ code: 'KUBE_CLOSED' });
  });
});

describe('any kind', () => {
  test('is held: cluster-scoped ones, custom resources from the day their CRD comes', async () => {
    await reopen({ refusedPauseMs: 100 });
    const one = named('one');
    const found = await rig.cache.get(namespaces, { name: 'kube-system' });
    expect(found?.kind).toBe('Namespace');
    const unknown = rig.cache.get(things, one);
    await expect(unknown).rejects.toMatchObject({ code: 'KUBE_NOT_FOUND' });
    const told: unknown[] = [];
    rig.cache.source(things, one, (change) => {
      told.push(change.new?.['spec'] ?? null);
    });
    await admin.create(CRDS, thingsCrd);
    const made = () => admin.create(things, thing('one', { a: 1 })).then(...settled);
    await expect.poll(made, { timeout: 10_000 }).toBe('made');
    await expect.poll(() => told.at(-1), { timeout: 10_000 }).toEqual({ a: 1 });
    expect((await rig.cache.get(things, one))?.['spec']).toEqual({ a: 1 });
  });

  const settled = [() => 'made', (error: { code: string }) => error.code] as const;
});

describe('an immutable Secret', () => {
  const secret = (name: string, value: string, immutable: boolean) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: named(name),
    stringData: { value },
    immutable,
  });
  const held = async (name: string) => {
    const object = await rig.cache.get(secrets, named(name));
    return (object?.['data'] as { value: string } | undefined)?.value ?? null;
  };
  const watches = () => metricOf(rig, 'watches');

  test('is no longer watched, and looked at again after a while', async () => {
    await reopen({ immutableMs: 400 });
    await admin.create(secrets, secret('fixed', 'a', true));
    expect(await held('fixed')).toBe('YQ==');
    await expect.poll(watches).toBe(0);
    await held('fixed');
    expect(calls()).toEqual({ 'watch secrets': 1 });
    const target = named('fixed');
    await admin.delete(secrets, target, { precondition: 'none', because: 'the test made it' });
    await admin.create(secrets, secret('fixed', 'b', false));
    await expect.poll(() => held('fixed')).toBe('Yg==');
    await expect.poll(watches).toBe(1);
  });

  test('that wakes somebody is looked at again even when nobody asks', async () => {
    await reopen({ immutableMs: 200, tidyMs: 100 });
    await admin.create(secrets, secret('waking', 'a', true));
    const told: unknown[] = [];
    rig.cache.source(secrets, named('waking'), (change) => {
      told.push(change.new === null ? null : change.new.metadata.name);
    });
    await expect.poll(() => told).toEqual(['waking']);
    const target = named('waking');
    await admin.delete(secrets, target, { precondition: 'none', because: 'the test made it' });
    await expect.poll(() => told).toEqual(['waking', null]);
  });
});

describe('bounds', () => {
  test('beyond the ceiling the longest unused object makes way', async () => {
    await reopen({ entriesMax: 3 });
    for (const name of ['lru-a', 'lru-b', 'lru-c']) await valueIn(rig, name);
    await valueIn(rig, 'lru-a');
    await valueIn(rig, 'lru-d');
    expect(metricOf(rig, 'entries')).toBe(3);
    const before = rig.kube.counts().get('watch configmaps');
    for (const name of ['lru-c', 'lru-a', 'lru-d']) await valueIn(rig, name);
    expect(rig.kube.counts().get('watch configmaps')).toBe(before);
    await valueIn(rig, 'lru-b');
    expect(rig.kube.counts().get('watch configmaps')).toBe(5);
  });

  test('an object that wakes somebody makes way for nobody', async () => {
    await reopen({ entriesMax: 1 });
    const { told, stop } = follow(rig, 'kept');
    await expect.poll(() => told).toEqual(['?>absent']);
    await write(admin, 'passing', 'live');
    expect(await valueIn(rig, 'passing')).toBe('live');
    expect(() => follow(rig, 'too-many')).toThrow(
      expect.objectContaining({ code: 'KUBE_CACHE_FULL' }),
    );
    await write(admin, 'kept', '1');
    await expect.poll(() => told).toEqual(['?>absent', 'absent>1']);
    stop();
    await valueIn(rig, 'passing');
    expect(metricOf(rig, 'ends_total')).toBe(1);
  });

  test('an object that nobody asks for is let go, with its connection', async () => {
    await reopen({ idleMs: 300, tidyMs: 50 });
    const { stop } = follow(rig, 'idle-kept');
    await valueIn(rig, 'idle-gone');
    await expect.poll(() => metricOf(rig, 'entries')).toBe(1);
    await admin.create(configMaps, configMap('idle-kept', { value: '1' }));
    await expect.poll(() => valueIn(rig, 'idle-kept')).toBe('1');
    stop();
    await expect.poll(() => metricOf(rig, 'entries')).toBe(0);
  });
});
