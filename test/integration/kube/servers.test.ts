// Watches, lists and the narrow cache while the API server is killed and comes back, forgets what
// was compacted, is an older one, or serves what an older disk of etcd holds.
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { apiServerSpec } from '../../../knative/try/local/plane/kube-apiserver.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeList } from '../../../shared/kube/objects.ts';
import type { WatchEvent } from '../../../shared/kube/watch.ts';
import { compact as compactEtcd } from '../../builders/etcd-values.ts';
import { grant, openAccount } from './narrow-cache/accounts.ts';
import { follow, openRig, metricOf, remove, valueIn, write } from './narrow-cache/rig.ts';
import { configMaps, namespace, openTestKube } from './world.ts';

/** On a machine that others use too. */
const SOON = { timeout: 20_000 } as const;

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
  // The version right before the compacted one can still be watched from.
  for (let left = 3; left > 0; left -= 1) await write(admin, 'newer', String(Math.random()));
  await compactEtcd(plane);
};

/** A watch of two ConfigMaps by their label, and what it has told of them. */
function followAll(label: string, client: KubeClient, signal: AbortSignal) {
  const state = new Map<string, string>();
  const labelSelector = `watch=${label}`;
  const selection = { namespace, labelSelector, from: 'initial-events', signal } as const;
  const ended = (async () => {
    for await (const event of client.watch(configMaps, selection)) apply(state, event);
  })();
  ended.catch(() => undefined);
  const told = (): Readonly<Record<string, string>> => Object.fromEntries(state);
  const begins = async (): Promise<void> => {
    await write(admin, `${label}-a`, '1', { watch: label });
    await vi.waitFor(() => expect(told()).toEqual({ [`${label}-a`]: '1' }), SOON);
  };
  const change = async (): Promise<void> => {
    await write(admin, `${label}-a`, '2', { watch: label });
    await write(admin, `${label}-b`, '1', { watch: label });
  };
  return { told, begins, change };
}

function apply(state: Map<string, string>, event: WatchEvent): void {
  if (event.type === 'RESTART') state.clear();
  if (event.type === 'ADDED' || event.type === 'MODIFIED') {
    state.set(event.object.metadata.name, (event.object['data'] as { value: string }).value);
  }
}

test('an API server that was killed and knows its version costs a watch nothing', async () => {
  const followed = followAll('known', kube, end.signal);
  await followed.begins();
  await killAndStart();
  await followed.change();
  await expect.poll(followed.told, SOON).toEqual({ 'known-a': '2', 'known-b': '1' });
});

/** One that was killed once, after each test's work had begun. */
describe('an API server that has forgotten what was compacted', () => {
  let client: KubeClient;
  let over: AbortController;
  let followed: ReturnType<typeof followAll>;
  let listed: KubeList['metadata'];
  let pages: AsyncGenerator<KubeList, void>;
  let strict: AsyncGenerator<KubeList, void>;
  let first: IteratorResult<KubeList, void>;

  beforeAll(async () => {
    client = openTestKube(plane);
    over = new AbortController();
    followed = followAll('forgotten', client, over.signal);
    await followed.begins();
    ({ metadata: listed } = await admin.list(configMaps, { limit: 1 }));
    for (let index = 0; index < 3; index += 1) await write(admin, `page-${index}`, '1');
    pages = client.pages(configMaps, { limit: 1, onExpired: 'inconsistent' });
    strict = client.pages(configMaps, { limit: 1 });
    first = await pages.next();
    await strict.next();
    await compact();
    await killAndStart();
  });

  afterAll(async () => {
    over?.abort(new Error('the tests are over'));
    await client?.close();
  });

  test('costs a watch nothing', async () => {
    await followed.change();
    await expect.poll(followed.told, SOON).toEqual({ 'forgotten-a': '2', 'forgotten-b': '1' });
  });

  test('says so to a watch and a list from then', async () => {
    const { resourceVersion, continue: next = '' } = listed;
    const expired = { code: 'KUBE_EXPIRED' };
    const { signal } = end;
    const watch = kube.watch(configMaps, { namespace, from: { resourceVersion }, signal });
    await expect(watch.next()).rejects.toMatchObject(expired);
    const page = admin.list(configMaps, { continue: next, limit: 1 });
    await expect(page).rejects.toMatchObject(expired);
  });

  test('ends a list of pages, or goes on with what there is now, as was asked', async () => {
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
  for (const each of [told, toldDirectly]) await expect.poll(() => each).toEqual(['?>1']);
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
