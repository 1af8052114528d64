// Watches, lists and the narrow cache while the API server is killed and comes back, forgets what
// was compacted, is an older one, or serves what an older disk of etcd holds.
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { apiServerSpec } from '../../../knative/try/local/plane/kube-apiserver.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { WatchEvent } from '../../../shared/kube/watch.ts';
import { compact as compactEtcd } from '../../builders/etcd-values.ts';
import { grant, openAccount } from './narrow-cache/accounts.ts';
import { follow, openRig, metricOf, remove, valueIn, write } from './narrow-cache/rig.ts';
import { configMaps, namespace, openTestKube } from './world.ts';

let plane: Plane;
let admin: KubeClient;
let kube: KubeClient;
let end: AbortController;

beforeAll(async () => {
  plane = await startPlane({ parts: ['etcd', 'kube-apiserver'] });
  admin = openTestKube(plane);
});

afterAll(async () => {
  await admin?.close();
  await plane?.stop();
});

beforeEach(() => {
  kube = openTestKube(plane);
  end = new AbortController();
});

afterEach(async () => {
  end.abort(new Error('the test is over'));
  await kube.close();
});

const killAndStart = async (): Promise<void> => {
  await plane.part('kube-apiserver').kill();
  await plane.part('kube-apiserver').start();
};

/** Makes the API server forget every version before now, once it is started again. */
const compact = async (): Promise<void> => {
  await write(admin, 'newer', String(Math.random()));
  await compactEtcd(plane);
};

describe('an API server that was killed', () => {
  test.each([
    ['that knows its version', false],
    ['that has forgotten its version', true],
  ])('and comes back as one %s costs a watch nothing', async (_, isForgotten) => {
    const labels = { watch: `killed-${isForgotten}` };
    const labelSelector = `watch=killed-${isForgotten}`;
    const state = new Map<string, string>();
    await write(admin, 'killed-a', '1', labels);
    const { signal } = end;
    const watch = kube.watch(configMaps, {
      namespace,
      labelSelector,
      from: 'initial-events',
      signal,
    });
    const ended = (async () => {
      for await (const event of watch) apply(state, event);
    })();
    ended.catch(() => undefined);
    await expect.poll(() => Object.fromEntries(state)).toEqual({ 'killed-a': '1' });
    if (isForgotten) await compact();
    await killAndStart();
    await write(admin, 'killed-a', '2', labels);
    await write(admin, 'killed-b', '1', labels);
    await expect
      .poll(() => Object.fromEntries(state), { timeout: 20_000 })
      .toEqual({ 'killed-a': '2', 'killed-b': '1' });
  });

  function apply(state: Map<string, string>, event: WatchEvent): void {
    if (event.type === 'RESTART') state.clear();
    if (event.type === 'ADDED' || event.type === 'MODIFIED') {
      state.set(event.object.metadata.name, (event.object['data'] as { value: string }).value);
    }
  }

  test('has forgotten what was compacted: a watch and a list from then are told so', async () => {
    const { metadata } = await admin.list(configMaps, { limit: 1 });
    const { resourceVersion, continue: next = '' } = metadata;
    await compact();
    await killAndStart();
    const expired = { code: 'KUBE_EXPIRED' };
    const { signal } = end;
    const watch = kube.watch(configMaps, { namespace, from: { resourceVersion }, signal });
    await expect(watch.next()).rejects.toMatchObject(expired);
    const page = admin.list(configMaps, { continue: next, limit: 1 });
    await expect(page).rejects.toMatchObject(expired);
  });

  test('ends a list of pages, or goes on with what there is now, as was asked', async () => {
    for (let index = 0; index < 3; index += 1) await write(admin, `page-${index}`, '1');
    const pages = kube.pages(configMaps, { limit: 1, onExpired: 'inconsistent' });
    const strict = kube.pages(configMaps, { limit: 1 });
    const first = await pages.next();
    await strict.next();
    await compact();
    await killAndStart();
    await expect(strict.next()).rejects.toMatchObject({ code: 'KUBE_EXPIRED' });
    const second = await pages.next();
    const versionOf = (page: typeof first) => Number(page.value?.metadata.resourceVersion);
    expect(versionOf(second)).toBeGreaterThan(versionOf(first));
  });
});

test('a killed API server fails a get in clear words; once back, all is as it was', async () => {
  const rig = await openRig(plane, { staleMaxMs: 1_000, readTimeoutMs: 500 });
  await write(admin, 'killed', '1');
  const direct = await openRig(plane, {}, plane.kubeconfigPath);
  const { told: toldDirectly } = follow(direct, 'killed');
  const { told } = follow(rig, 'killed');
  await expect.poll(() => told).toEqual(['?>1']);
  await write(admin, 'killed', '2');
  await expect.poll(() => told).toEqual(['?>1', '1>2']);
  await compact();
  await plane.part('kube-apiserver').kill();
  const code = () =>
    valueIn(rig, 'killed').then(
      (value) => value,
      (error: { code: string }) => error.code,
    );
  expect(await code()).toBe('2');
  await expect.poll(code).toBe('KUBE_UNAVAILABLE');
  await plane.part('kube-apiserver').start();
  await write(admin, 'killed', '3');
  await expect.poll(() => told).toEqual(['?>1', '1>2', '2>3']);
  expect(await valueIn(rig, 'killed')).toBe('3');
  await expect.poll(() => toldDirectly).toEqual(told);
  await direct.close();
  await rig.close();
});

test('an API server without initial events is asked by a list and a watch', async () => {
  const port = await freePort();
  const binary = await resolvePart('kube-apiserver');
  const etcdUrl = plane.part('etcd').url;
  const spec = apiServerSpec({ binary, dir: join(plane.dir, 'data'), port, etcdUrl });
  const args = [...spec.args, '--feature-gates=WatchList=false'];
  const old = await plane.add({ ...spec, name: 'kube-apiserver-old', args });
  const account = await openAccount(plane, admin, 'old', old.url);
  const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] };
  await grant(admin, 'old', rule);
  const oldRig = await openRig(plane, { refusedPauseMs: 100 }, account.kubeconfigPath);
  await write(admin, 'old', '1');
  await expect.poll(() => valueIn(oldRig, 'old').catch(() => 'refused')).toBe('1');
  await expect.poll(() => metricOf(oldRig, 'watches')).toBe(1);
  oldRig.kube.resetCounts();
  await write(admin, 'old', '2');
  await expect.poll(() => valueIn(oldRig, 'old')).toBe('2');
  await remove(admin, 'old');
  await expect.poll(() => valueIn(oldRig, 'old')).toBeNull();
  expect(oldRig.kube.counts().size).toBe(0);
  await oldRig.close();
  await old.stop();
});

test('after etcd was restored from an older disk a get shows what is, not what was', async () => {
  const data = join(plane.dir, 'data', 'etcd');
  const [etcd, apiServer] = [plane.part('etcd'), plane.part('kube-apiserver')];
  await write(admin, 'restored', 'before');
  await etcd.stop();
  await cp(data, `${data}-old`, { recursive: true });
  await etcd.start();
  const rig = await openRig(plane);
  const { told } = follow(rig, 'restored');
  await expect.poll(() => told).toEqual(['?>before']);
  // The API server writes something too when it starts: its revisions must not catch up.
  for (let round = 0; round < 100; round += 1) await write(admin, 'other', `${round}`);
  await write(admin, 'restored', 'after');
  await expect.poll(() => told).toEqual(['?>before', 'before>after']);
  await Promise.all([apiServer.kill(), etcd.kill()]);
  await rm(data, { recursive: true });
  await cp(`${data}-old`, data, { recursive: true });
  await etcd.start();
  await apiServer.start();
  const whole = ['?>before', 'before>after', 'after>before'];
  await expect.poll(() => told).toEqual(whole);
  expect(await valueIn(rig, 'restored')).toBe('before');
  await rig.close();
});
