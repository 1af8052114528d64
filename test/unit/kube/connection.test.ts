// Connections over a rotation of certificates, calls to a server that does not speak JSON, and
// what is told of a retry. The server is a plain one, for the API server does none of this at will.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import type { Retry } from '../../../shared/kube/calls.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const from = { resourceVersion: '1' };
let dir: string;
let server: Server;
let url: string;
let kube: KubeClient;
let end: AbortController;
let aheadMs: number;
let retries: Retry[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const clock: Clock = { ...systemClock, nowMs: () => Date.now() + aheadMs };

/** Certificates that nobody looks at, since the server speaks plain HTTP: they only change. */
const writeConfig = (ca: string): Promise<void> =>
  writeFile(
    join(dir, 'kubeconfig'),
    JSON.stringify({
      'current-context': 'here',
      clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': btoa(ca) } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    }),
  );

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-connection-'));
  aheadMs = 0;
  retries = [];
  end = new AbortController();
  server = createServer((request, response) => answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  url = `http://127.0.0.1:${address.port}`;
  await writeConfig('A');
  kube = openKube({
    userAgent: 'test',
    fieldManager: 'test',
    kubeconfigPath: join(dir, 'kubeconfig'),
    clock,
    onRetry: (retry) => retries.push(retry),
  });
});

afterEach(async () => {
  end.abort(new Error('the test is over'));
  await kube.close();
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true });
});

const version = async (): Promise<number> =>
  (await kube.raw({ method: 'GET', path: '/version', repeat: 'always', timeoutMs: 2_000 }))
    .statusCode;

function openWatch() {
  const watch = kube.watch(pods, { from, signal: end.signal });
  const next = watch.next();
  next.catch(() => undefined);
  return next;
}

test('certificates that come back are used while a watch still holds the first', async () => {
  let watches = 0;
  answer = ({ url: path = '' }, response) => {
    if (path.includes('watch=true')) {
      watches += 1;
      response.writeHead(200).flushHeaders();
    } else response.end('{}');
  };
  void openWatch();
  await expect.poll(() => watches).toBe(1);
  for (const ca of ['B', 'A', 'B', 'A']) {
    await writeConfig(ca);
    aheadMs += 60_001;
    expect(await version()).toBe(200);
  }
  expect(watches).toBe(1);
});

test('a watch outlives a kubeconfig that is half written when it connects', async () => {
  const event = JSON.stringify({ type: 'ADDED', object: { metadata: { resourceVersion: '2' } } });
  answer = (_, response) => void response.end(`${event}\n`);
  await writeFile(join(dir, 'kubeconfig'), '');
  const next = openWatch();
  await expect.poll(() => retries.length).toBeGreaterThan(0);
  await writeConfig('A');
  expect((await next).value).toMatchObject({ type: 'ADDED' });
  expect(retries[0]).toEqual({
    verb: 'watch',
    resource: 'pods',
    code: 'KUBE_ACCESS_UNREADABLE',
    statusCode: undefined,
  });
});

test('a retry is told with what was tried and what was answered', async () => {
  let calls = 0;
  answer = (_, response) => {
    calls += 1;
    response.writeHead(calls === 1 ? 503 : 200).end('{"items":[],"kind":"PodList"}');
  };
  await kube.list(pods);
  expect(retries).toEqual([
    { verb: 'list', resource: 'pods', code: 'KUBE_UNAVAILABLE', statusCode: 503 },
  ]);
});

test('of an answer that is not JSON only the size, the type and the place are told', async () => {
  answer = (_, response) =>
    void response.setHeader('content-type', 'text/html').end('{"token": "s3cret", s3cret}');
  const error: unknown = await kube.list(pods).catch((thrown: unknown) => thrown);
  const said = inspect(error, { depth: 10, showHidden: true });
  expect(said).toContain('27 characters that are not JSON, at position 20 (text/html)');
  expect(said).not.toContain('s3cret');
});

test('of a watch event that is not JSON no word is told', async () => {
  const told: object[] = [];
  answer = (_, response) => void response.end('{"token": s3cret}\n');
  const wary = openKube({
    userAgent: 'test',
    fieldManager: 'test',
    kubeconfigPath: join(dir, 'kubeconfig'),
    log: { warn: (fields) => void told.push(fields) },
    onRetry: () => end.abort(new Error('seen')),
  });
  const watch = wary.watch(pods, { from, signal: end.signal });
  await expect(watch.next()).rejects.toThrow('seen');
  expect(inspect(told)).toContain('a line of 17 characters that are not JSON');
  expect(inspect(told)).not.toContain('s3cret');
  await wary.close();
});
