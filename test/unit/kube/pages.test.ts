// Lists of objects that are larger than anybody expects come in pages that fit into the memory of a
// function. The server is a plain one that pages as the API server does and makes objects up while
// they are read: what it sent is what the client had to take.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { KubeList } from '../../../shared/kube/objects.ts';

const MIB = 1024 * 1024;
const PODS = { group: '', version: 'v1', resource: 'pods' };

let dir: string;
let server: Server;
let kube: KubeClient;
/** How many bytes of labels each object has. */
let sizes: readonly number[];
/** How many objects were asked for, by page. */
let limits: number[];
/** The moment of the first page is forgotten after it; a token goes on with what there is. */
let isForgetful: boolean;
/** As a proxy does that gives up in the middle, and ends its answer well. */
let isCutShort: boolean;

function* objectText(index: number): Generator<string> {
  yield '{"metadata":{"labels":{"a":"';
  for (let left = sizes[index] ?? 0; left > 0; left -= 65_536) {
    yield 'x'.repeat(Math.min(left, 65_536));
  }
  yield `"},"name":"p${index}","namespace":"shop","uid":"u${index}","resourceVersion":"${index}"},`;
  yield `"spec":{"nodeName":"n${index}"}}`;
}

function* pageText(first: number, limit: number): Generator<string> {
  const end = Math.min(first + limit, sizes.length);
  const more = end < sizes.length ? `,"continue":"${end}"` : '';
  yield `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"99"${more}},"items":[`;
  for (let index = first; index < end; index += 1) {
    if (index > first) yield ',';
    yield* objectText(index);
  }
  yield ']}';
}

function serve(url: string, response: ServerResponse): void {
  const { searchParams } = new URL(url, 'http://any');
  const limit = Number(searchParams.get('limit') ?? Infinity);
  limits.push(limit);
  response.setHeader('content-type', 'application/json');
  const token = searchParams.get('continue') ?? 'now-0';
  const first = Number(token.replace('now-', ''));
  if (isForgetful && !token.startsWith('now-')) {
    const metadata = { continue: `now-${first}` };
    const status = { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410, metadata };
    response.writeHead(410).end(JSON.stringify(status));
    return;
  }
  const isCut = isCutShort && limits.length > 1;
  const body = Readable.from(isCut ? ['{"kind":"PodList","items":['] : pageText(first, limit));
  // A client that has had enough hangs up.
  pipeline(body, response).catch(() => undefined);
}

beforeEach(async () => {
  limits = [];
  [isForgetful, isCutShort] = [false, false];
  dir = await mkdtemp(join(tmpdir(), 'ballast-pages-'));
  server = createServer(({ url = '' }, response) => serve(url, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  const path = join(dir, 'kubeconfig');
  const config = {
    'current-context': 'here',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${address.port}` } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
  };
  await writeFile(path, JSON.stringify(config));
  kube = openKube({ userAgent: 'test', fieldManager: 'test', kubeconfigPath: path });
});

afterEach(async () => {
  await kube.close();
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true });
});

const weightOf = (page: KubeList): number => JSON.stringify(page).length;
const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[] = []) =>
  objects.map(({ metadata }) => metadata.name);

async function readAll(onTooLarge: 'skim' | 'fail' = 'fail'): Promise<readonly KubeList[]> {
  const pages: KubeList[] = [];
  for await (const page of kube.pages(PODS, { limit: 500, onTooLarge })) pages.push(page);
  return pages;
}

const all = (): readonly string[] => sizes.map((_, index) => `p${index}`);

test('40 objects of 750 kB each come in pages of a few, each once', async () => {
  sizes = Array.from({ length: 40 }, () => 750_000);
  const pages = await readAll();
  expect(pages.flatMap(({ items }) => namesOf(items))).toEqual(all());
  expect(Math.max(...pages.map(weightOf))).toBeLessThan(3 * MIB);
});

test('a thousand small ones come in few pages', async () => {
  sizes = Array.from({ length: 1_000 }, () => 2_000);
  const pages = await readAll();
  expect(pages.flatMap(({ items }) => namesOf(items))).toEqual(all());
  expect(limits).toEqual([50, 200, 500, 500]);
});

test('a few large ones make the page smaller, and it grows again', async () => {
  const isLarge = (index: number): boolean => index >= 300 && index < 310;
  sizes = Array.from({ length: 1_000 }, (_, index) => (isLarge(index) ? MIB : 1_000));
  const pages = await readAll();
  expect(pages.flatMap(({ items }) => namesOf(items))).toEqual(all());
  expect(Math.max(...pages.map(weightOf))).toBeLessThan(3 * MIB);
  expect(limits.at(-1)).toBe(500);
});

test('an object beyond every bound is named and passed over', async () => {
  sizes = [10, 13 * MIB, 10];
  const pages = await readAll('skim');
  expect(pages.flatMap(({ items }) => namesOf(items))).toEqual(['p0', 'p2']);
  const [{ tooLarge: [object] = [] } = { tooLarge: [] }] = pages.filter((page) => page.tooLarge);
  expect(object).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p1', namespace: 'shop', uid: 'u1', resourceVersion: '1' },
    spec: { nodeName: 'n1' },
  });
});

test('it is passed over also where the first moment of the list is forgotten', async () => {
  isForgetful = true;
  sizes = [...Array.from({ length: 60 }, () => 10), 13 * MIB, 10];
  const found: string[] = [];
  const options = { limit: 60, onTooLarge: 'skim', onExpired: 'inconsistent' } as const;
  for await (const { items, tooLarge } of kube.pages(PODS, options)) {
    found.push(...namesOf(items), ...namesOf(tooLarge));
  }
  expect(found).toEqual(all());
});

test('what may be only the beginning of a list is no end of it', async () => {
  isCutShort = true;
  sizes = [13 * MIB, 10];
  const reading = (async () => {
    for await (const page of kube.pages(PODS, { limit: 1, onTooLarge: 'skim' })) {
      expect(page.tooLarge).toBeUndefined();
    }
  })();
  await expect(reading).rejects.toMatchObject({ code: 'KUBE_UNAVAILABLE' });
});

test('it fails the list of whoever cannot do without', async () => {
  sizes = [13 * MIB];
  await expect(readAll()).rejects.toMatchObject({ code: 'KUBE_TOO_LARGE' });
});

test('one page that is bounded has fewer objects than were asked for, and goes on', async () => {
  sizes = Array.from({ length: 20 }, () => 750_000);
  const page = await kube.list(PODS, { limit: 100, isBounded: true });
  expect(weightOf(page)).toBeLessThan(3 * MIB);
  expect(page.metadata.continue).toBe(String(page.items.length));
});
