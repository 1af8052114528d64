// The harness itself: real parts come up, can be hurt one by one, and leave nothing behind.
import { access } from 'node:fs/promises';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Plane, startPlane } from '../../../knative/try/local/plane/plane.ts';
import { answers } from '../../../knative/try/local/plane/probe.ts';
import { startTimeTicks } from '../../../knative/try/local/process/proc.ts';

const PROBE_MS = 1_500;
let plane: Plane;

beforeAll(async () => {
  plane = await startPlane({ links: true });
});

afterAll(async () => {
  await plane.stop();
});

const apiAnswers = (path: string): Promise<boolean> => {
  const { url } = plane.part('kube-apiserver');
  return answers(`${url}${path}`, AbortSignal.timeout(PROBE_MS), plane.caPath).catch(() => false);
};

test('all parts are ready and verified over TLS', async () => {
  expect(
    plane
      .parts()
      .map(({ name, state }) => `${name} ${state}`)
      .toSorted(),
  ).toEqual(['etcd ready', 'kube-apiserver ready', 'nats-server ready']);
  expect(await apiAnswers('/readyz')).toBe(true);
});

test('a partition between the API server and etcd is felt, and healed', async () => {
  plane.partition('kube-apiserver', 'etcd');
  await expect.poll(() => apiAnswers('/readyz'), { timeout: 20_000 }).toBe(false);
  const { url } = plane.part('kube-apiserver');
  const answer = answers(`${url}/readyz`, AbortSignal.timeout(20_000), plane.caPath);
  await expect(answer).rejects.toThrow(/readyz answers 500: (.*, )?etcd/);
  plane.heal('kube-apiserver', 'etcd');
  await expect.poll(() => apiAnswers('/readyz'), { timeout: 20_000 }).toBe(true);
});

test('a paused part hangs without dying', async () => {
  const part = plane.part('kube-apiserver');
  await part.pause();
  expect(await apiAnswers('/livez')).toBe(false);
  expect(part.state).toBe('ready');
  part.resume();
  await expect.poll(() => apiAnswers('/livez'), { timeout: 20_000 }).toBe(true);
});

test('a killed part comes back on the same address with the same data', async () => {
  const part = plane.part('etcd');
  const before = { url: part.url, pid: part.pid };
  await part.kill();
  expect(part.pid).toBeUndefined();
  await part.start();
  expect(part.url).toBe(before.url);
  expect(part.pid).not.toBe(before.pid);
  await expect.poll(() => apiAnswers('/readyz'), { timeout: 20_000 }).toBe(true);
});

test('planes run side by side; a stopped one leaves no process, port or directory', async () => {
  const other = await startPlane({ parts: ['etcd', 'nats-server'] });
  const pids = other.parts().map(({ pid }) => pid ?? 0);
  const etcdUrl = other.part('etcd').url;
  expect(await answers(`${etcdUrl}/health`, AbortSignal.timeout(PROBE_MS))).toBe(true);
  expect(etcdUrl).not.toBe(plane.part('etcd').url);
  await other.stop();
  expect(await Promise.all(pids.map(startTimeTicks))).toEqual([undefined, undefined]);
  await expect(answers(`${etcdUrl}/health`, AbortSignal.timeout(PROBE_MS))).rejects.toThrow(
    'ECONNREFUSED',
  );
  await expect(access(other.dir)).rejects.toThrow('ENOENT');
});

test('a chosen port that is taken is named with the part that wanted it', async () => {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await expect(
    startPlane({ parts: ['nats-server'], ports: { 'nats-server': port } }),
  ).rejects.toThrow(`port ${port}, asked for nats-server, is taken`);
  listener.close();
});

test('an unknown part is refused with the names that exist', () => {
  expect(() => plane.part('etdc')).toThrow(/no part is named etdc; there are: .*kube-apiserver/);
});
