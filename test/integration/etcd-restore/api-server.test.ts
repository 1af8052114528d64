// A real API server whose etcd is lost, and restored from a backup into an EtcdCluster: whoever
// watched it is told that the past is gone, reads anew, and hears of what comes after.
import { readFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backUp } from '../../../functions/etcd-backup/backup.ts';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { narrowCache } from '../../../shared/kube/narrow-cache/narrow-cache.ts';
import { type Named, SCENARIO_MS } from '../etcd-cluster/etcd-scene.ts';
import { RestorePlace } from './restore-place.ts';

const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' } as const;
const RESTORED: Named = { namespace: 'kube', name: 'kube' };
const LONG = { timeout: 120_000, interval: 200 };

let place: RestorePlace;
let plane: Plane;
let kube: KubeClient;
let relay: Server | undefined;

beforeAll(async () => {
  place = await RestorePlace.start();
  await place.namespace(RESTORED.namespace);
  plane = await startPlane({ parts: ['etcd', 'kube-apiserver'] });
  const { kubeconfigPath } = plane;
  kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
}, SCENARIO_MS);

afterAll(async () => {
  await kube?.close();
  await plane?.stop();
  relay?.close();
  await place?.stop();
});

async function put(name: string, value: string): Promise<KubeObject> {
  const metadata = { namespace: 'default', name };
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } };
  return kube.apply(CONFIG_MAPS, manifest, { force: true });
}

/** A backup of all that the API server has. */
async function takeBackup(): Promise<void> {
  const path = join(plane.dir, 'backup.db');
  const { signal } = new AbortController();
  const etcd = { endpoints: [plane.part('etcd').url] };
  const { facts } = await backUp({ etcd, to: { path } }, { signal, onProgress: () => undefined });
  await place.bucket.putNew('kube.db', await readFile(path), 'test');
  await place.bucket.putNew('kube.db.json', Buffer.from(JSON.stringify(facts)), 'test');
}

/** The API server finds the restored etcd where it had its own. */
async function moveOver(): Promise<void> {
  const port = Number(new URL(plane.part('etcd').url).port);
  await plane.part('kube-apiserver').stop();
  await plane.part('etcd').stop();
  const [pod] = await place.etcd.pods(RESTORED);
  const host = String(Object(pod?.['status']).podIP);
  const server = createServer((socket) => {
    const onward = connect(2379, host);
    socket.on('error', () => onward.destroy()).pipe(onward);
    onward.on('error', () => socket.destroy()).pipe(socket);
  });
  relay = server;
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await plane.part('kube-apiserver').start();
}

test('an API server goes on with a restored etcd', { timeout: SCENARIO_MS }, async () => {
  await put('settings', 'of the backup');
  await takeBackup();
  const cache = narrowCache(kube);
  const at = (name: string) => ({ namespace: 'default', name });
  const seen = async (name: string): Promise<unknown> =>
    Object((await cache.get(CONFIG_MAPS, at(name)))?.['data']).value;
  await put('lost', 'after it');
  const { metadata } = await put('settings', 'after it');
  await expect
    .poll(() => Promise.all(['settings', 'lost'].map(seen)), LONG)
    .toEqual(['after it', 'after it']);
  const tls = { clients: { mode: 'None' }, peers: { mode: 'None' } };
  const spec = { replicas: 1, tls, storage: { size: '10Gi' }, compaction: { mode: 'None' } };
  const etcdCluster = { name: RESTORED.name, spec };
  await place.create(RESTORED, { source: place.inS3('kube.db'), etcdCluster });
  await place.untilSays(RESTORED, /^False EtcdCluster(Starting|Degraded)/);
  await place.etcd.wakeUntilReady(RESTORED);
  await moveOver();
  // A watch of before does not wait for revisions that were given twice.
  const from = { resourceVersion: metadata.resourceVersion };
  const signal = AbortSignal.timeout(60_000);
  const watching = kube.watchOnce(CONFIG_MAPS, { namespace: 'default', from, signal });
  const first = async (): Promise<unknown> => {
    for await (const event of watching) return event;
    return undefined;
  };
  await expect(first()).rejects.toThrow(/no longer has this resourceVersion/);
  await expect
    .poll(() => Promise.all(['settings', 'lost'].map(seen)), LONG)
    .toEqual(['of the backup', undefined]);
  await put('settings', 'of the new etcd');
  await expect.poll(() => seen('settings'), LONG).toBe('of the new etcd');
  cache.close();
});
