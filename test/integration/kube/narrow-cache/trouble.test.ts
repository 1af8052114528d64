// The narrow cache while connections break and rights change: its answers stay right, and every
// follower is still woken.
import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { PlaneAddress } from '../../../../knative/try/local/plane/address.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { configMaps } from '../world.ts';
import { grant, openAccount } from './accounts.ts';
import {
  follow,
  metricOf,
  named,
  openRig,
  remove,
  type Rig,
  valueIn,
  withRigEach,
  write,
} from './rig.ts';

let plane: PlaneAddress;
let admin: KubeClient;
let rig: Rig;

withRigEach((given) => {
  ({ plane, admin, rig } = given);
});

const meetsWatch = (_: string, url: string): boolean => url.includes('watch=true');

describe('a watch that ends', () => {
  test('as the API server ends it after its time leaves handlers and values whole', async () => {
    await write(admin, 'closed', '1');
    const { told } = follow(rig, 'closed');
    await expect.poll(() => told).toEqual(['?>1']);
    for (const value of ['2', '3']) {
      rig.front.cutAll();
      await write(admin, 'closed', value);
      await expect.poll(() => told.at(-1)).toMatch(`>${value}`);
    }
    // Nobody is told twice of what is the same after the cut.
    expect(told).toEqual(['?>1', '1>2', '2>3']);
    expect(await valueIn(rig, 'closed')).toBe('3');
    expect(metricOf(rig, 'restarts_total')).toBe(2);
  });

  test('while its object is deleted and made anew tells one change between the two', async () => {
    await write(admin, 'remade', 'old');
    const { told } = follow(rig, 'remade');
    await expect.poll(() => told).toEqual(['?>old']);
    rig.front.faults.push(...Array.from({ length: 3 }, () => later));
    rig.front.cutAll();
    await remove(admin, 'remade');
    await write(admin, 'remade', 'new');
    await expect.poll(() => told).toEqual(['?>old', 'old>new']);
  });
});

test('many watches share a connection, and one that ends takes no other along', async () => {
  const count = 150;
  const direct = await openRig(plane, { entriesMax: count }, plane.kubeconfigPath);
  const names = Array.from({ length: count }, (_, index) => `many-${index}`);
  await Promise.all(names.map((name) => valueIn(direct, name)));
  expect(metricOf(direct, 'watches')).toBe(count);
  expect(direct.kube.connectionsOpened).toBeLessThanOrEqual(2);
  // The longest unused one makes way.
  await valueIn(direct, 'one-more');
  await write(admin, 'many-1', '1');
  await expect.poll(() => valueIn(direct, 'many-1')).toBe('1');
  expect(metricOf(direct, 'ends_total')).toBe(1);
  expect(metricOf(direct, 'restarts_total')).toBe(0);
  await direct.close();
});

/** Refuses one request of a watch. */
const later = { meets: meetsWatch, does: { answer: 503 } } as const;
const laterFor = (count: number) => Array.from({ length: count }, () => later);

test('while a watch is broken the last value serves for a while, then reads are live', async () => {
  await rig.close();
  rig = await openRig(plane, { staleMaxMs: 400 });
  await write(admin, 'stale', '1');
  await valueIn(rig, 'stale');
  rig.front.faults.push(...laterFor(1_000));
  rig.front.cutAll();
  await expect.poll(() => metricOf(rig, 'watches')).toBe(0);
  await write(admin, 'stale', '2');
  expect(await valueIn(rig, 'stale')).toBe('1');
  await expect.poll(() => valueIn(rig, 'stale')).toBe('2');
  expect(rig.kube.counts().get('list configmaps')).toBe(1);
  await write(admin, 'stale', '3');
  expect(await valueIn(rig, 'stale')).toBe('3');
  expect(rig.warnings).toHaveLength(1);
  rig.front.faults.length = 0;
  await expect.poll(() => metricOf(rig, 'watches')).toBe(1);
  expect(await valueIn(rig, 'stale')).toBe('3');
});

test('a failed write of the same object, by the same client, costs the cache nothing', async () => {
  const { told } = follow(rig, 'written');
  await expect.poll(() => told).toEqual(['?>absent']);
  await write(admin, 'written', '1');
  await expect.poll(() => told.at(-1)).toBe('absent>1');
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', data: { value: '2' } };
  const metadata = { ...named('written'), resourceVersion: '1' };
  const update = rig.kube.update(configMaps, { ...manifest, metadata });
  await expect(update).rejects.toMatchObject({ code: 'KUBE_CONFLICT' });
  await write(admin, 'written', '3');
  await expect.poll(() => told).toEqual(['?>absent', 'absent>1', '1>3']);
  expect(rig.kube.counts().get('watch configmaps')).toBe(1);
});

describe('handlers', () => {
  test('are told in order what was and what is, and one that throws hurts nobody', async () => {
    rig.cache.source(configMaps, named('order'), () => {
      throw new Error('a handler that throws');
    });
    rig.cache.source(configMaps, named('order'), () => Promise.reject(new Error('or rejects')));
    const { told } = follow(rig, 'order');
    await expect.poll(() => told).toEqual(['?>absent']);
    for (const value of ['1', '2', '3']) await write(admin, 'order', value);
    await remove(admin, 'order');
    const all = ['?>absent', 'absent>1', '1>2', '2>3', '3>absent'];
    await expect.poll(() => told).toEqual(all);
    expect(rig.warnings).toHaveLength(2 * all.length);
  });

  test('are registered once, and no more when they are taken back', async () => {
    const calls: string[] = [];
    const handler = (): void => void calls.push('called');
    const stop = rig.cache.source(configMaps, named('once'), handler);
    rig.cache.source(configMaps, named('once'), handler);
    const { told } = follow(rig, 'once');
    await expect.poll(() => told).toEqual(['?>absent']);
    expect(calls).toHaveLength(1);
    stop();
    await write(admin, 'once', '1');
    await expect.poll(() => told).toHaveLength(2);
    expect(calls).toHaveLength(1);
  });

  test('see what the cache holds already when they are called', async () => {
    const seen: Promise<string | null>[] = [];
    rig.cache.source(configMaps, named('inside'), () => {
      seen.push(valueIn(rig, 'inside'));
    });
    await expect.poll(() => seen).toHaveLength(1);
    await write(admin, 'inside', '1');
    await expect.poll(() => seen).toHaveLength(2);
    expect(await Promise.all(seen)).toEqual([null, '1']);
  });
});

describe('rights', () => {
  const rule = { apiGroups: [''], resources: ['configmaps'], resourceNames: ['narrow'] };

  test('to list and watch one name are enough, and a missing rule is named', async () => {
    const account = await openAccount(plane, admin, 'narrow');
    const narrow = await openRig(plane, { refusedPauseMs: 100 }, account.kubeconfigPath);
    await write(admin, 'narrow', '1');
    const refused = valueIn(narrow, 'narrow');
    await expect(refused).rejects.toMatchObject({ code: 'KUBE_FORBIDDEN' });
    await grant(admin, 'narrow', { ...rule, verbs: ['list', 'watch'] });
    await expect.poll(() => metricOf(narrow, 'watches')).toBe(1);
    expect(await valueIn(narrow, 'narrow')).toBe('1');
    const other = valueIn(narrow, 'other');
    await expect(other).rejects.toThrow('verbs: ["list"], resourceNames: ["other"]');
    await narrow.close();
  });

  test('to get alone are used as they are: every read is a call', async () => {
    const account = await openAccount(plane, admin, 'getter');
    await grant(admin, 'getter', { ...rule, resourceNames: ['only-get'], verbs: ['get'] });
    const getter = await openRig(plane, {}, account.kubeconfigPath);
    await write(admin, 'only-get', '1');
    await expect.poll(() => valueIn(getter, 'only-get').catch(() => 'refused')).toBe('1');
    await write(admin, 'only-get', '2');
    expect(await valueIn(getter, 'only-get')).toBe('2');
    await remove(admin, 'only-get');
    expect(await valueIn(getter, 'only-get')).toBeNull();
    await getter.close();
  });

  test('by a token that is rotated go on with the next one', async () => {
    const { front } = rig;
    const account = await openAccount(plane, admin, 'rotated', front.url);
    await grant(admin, 'rotated', { ...rule, resourceNames: ['rotated'], verbs: ['watch'] });
    const rotated = await openRig(plane, {}, account.kubeconfigPath);
    const { told } = follow(rotated, 'rotated');
    await expect.poll(() => told).toEqual(['?>absent']);
    const refused = `Bearer ${await account.token()}`;
    const isOld = (_: string, __: string, headers: IncomingHttpHeaders): boolean =>
      headers.authorization === refused;
    const fault = { meets: isOld, does: { answer: 401 } } as const;
    front.faults.push(...Array.from({ length: 1_000 }, () => fault));
    front.cutAll();
    await expect.poll(() => metricOf(rotated, 'restarts_total')).toBeGreaterThan(1);
    await write(admin, 'rotated', '1');
    await account.rotate();
    await expect.poll(() => told, { timeout: 10_000 }).toEqual(['?>absent', 'absent>1']);
    await rotated.close();
  });
});
