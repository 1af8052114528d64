// Events of every kind with something wrong in their objects, to each function as it is: nothing
// that a sender writes is a bug of ours, which he would send again and again.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deadLetters } from '../../../functions/dead-letters/index.ts';
import { etcdCluster } from '../../../functions/etcd-cluster/index.ts';
import { etcdBackup } from '../../../functions/etcd-backup/index.ts';
import { etcdPeer } from '../../../functions/etcd-peer/index.ts';
import { etcdRestore } from '../../../functions/etcd-restore/index.ts';
import { objectIn } from '../../../functions/metadata/parse-event.ts';
import { feedOf } from '../../../functions/metadata/feed.ts';
import { project } from '../../../functions/metadata/observation.ts';
import { natsCluster } from '../../../functions/nats-cluster/index.ts';
import { storageMigration } from '../../../functions/storage-migration/index.ts';
import { takeover } from '../../../functions/takeover/index.ts';
import { systemClock } from '../../../shared/clock.ts';
import { Failure } from '../../../shared/errors.ts';
import type { FunctionDefinition, IncomingEvent } from '../../../shared/function/define.ts';
import { createLog } from '../../../shared/function/log.ts';
import { Metrics } from '../../../shared/function/metrics.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/adapter');
type Fields = Record<string, unknown>;
const objects = readdirSync(folder)
  .filter((name) => name.startsWith('resource-'))
  .map((name) => (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { body: Fields }).body);

const WRONG: readonly unknown[] = [
  null,
  0,
  -1,
  2 ** 53,
  '',
  'x',
  'ü/../%',
  true,
  [],
  [null],
  {},
  { toString: 1 },
];

/** A real object, with one to three of its parts replaced or taken away. */
const mangled: fc.Arbitrary<unknown> = fc
  .tuple(
    fc.constantFrom(...objects),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...WRONG, undefined)), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([object, changes]) => changes.reduce<unknown>(changed, structuredClone(object)));

function changed(root: unknown, [at, value]: readonly [number, unknown]): unknown {
  const places: (() => void)[] = [];
  collect(root, value, places, 0);
  places[at % Math.max(1, places.length)]?.();
  return root;
}

/** Above all what every reader looks at: half of the choices are near the root. */
function collect(within: unknown, value: unknown, places: (() => void)[], depth: number): void {
  if (typeof within !== 'object' || within === null || depth > 6) return;
  const fields = within as Fields;
  for (const key of Object.keys(fields)) {
    const put = (): void => {
      if (value === undefined) delete fields[key];
      else fields[key] = structuredClone(value);
    };
    places.push(...Array<() => void>(depth < 2 ? 4 : 1).fill(put));
    collect(fields[key], value, places, depth + 1);
  }
}

const TYPES = ['add', 'update', 'delete'].map((verb) => `dev.knative.apiserver.resource.${verb}`);

function eventOf(data: unknown, type: string): IncomingEvent {
  return { specversion: '1.0', id: '1', source: '/tests', type, data };
}

/** Undefined, or what is a bug of ours. */
async function bugIn(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error instanceof Failure && error.kind !== 'bug' ? undefined : error;
  }
}

const feed = feedOf({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'MetadataFeed',
  metadata: { name: 'cluster', uid: 'u', resourceVersion: '1' },
  spec: {
    stream: {},
    sweepSeconds: 60,
    retention: { tombstoneSeconds: 60 },
    pods: { labels: ['*'], annotations: ['*'] },
  },
});

test('metadata takes no shape of an object for what it is not', async () => {
  const check = (data: unknown, type: string): void => {
    const object = objectIn(eventOf(data, type));
    for (const resource of feed.resources) {
      const { resourceVersion } = object.metadata;
      const seen = { resource, object, isGone: type.endsWith('delete'), resourceVersion };
      project(feed, seen, 1);
    }
  };
  await fc.assert(
    fc.asyncProperty(mangled, fc.constantFrom(...TYPES), async (data, type) => {
      expect(await bugIn(() => check(data, type))).toBeUndefined();
    }),
    { numRuns: 300 },
  );
  for (const data of [null, 1, 'x', [], [[]], {}, undefined]) {
    expect(await bugIn(() => check(data, 'add'))).toBeUndefined();
  }
});

const server = createServer((request, response) => {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'NotFound',
    code: 404,
  };
  request.resume().once('end', () => {
    response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
});
let dir = '';
let kubeconfigPath = '';
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  dir = mkdtempSync(join(tmpdir(), 'ballast-shapes-'));
  kubeconfigPath = join(dir, 'kubeconfig');
  const { port } = server.address() as AddressInfo;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  writeFileSync(kubeconfigPath, JSON.stringify(config));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(dir, { recursive: true });
});

const DEFINITIONS = [
  natsCluster,
  etcdCluster,
  etcdBackup,
  etcdPeer,
  etcdRestore,
  storageMigration,
  takeover,
  deadLetters,
] as unknown as readonly FunctionDefinition<object, unknown>[];
/** The kinds that functions look after; dead-letters has none. */
const KINDS: Readonly<Record<string, string>> = {
  'nats-cluster': 'NatsCluster',
  'etcd-cluster': 'EtcdCluster',
  'etcd-backup': 'EtcdBackup',
  'etcd-peer': 'EtcdPeer',
  'etcd-restore': 'EtcdRestore',
  'storage-migration': 'StorageMigration',
  takeover: 'Takeover',
};

test.each(DEFINITIONS)('$name takes no shape of an object for what it is not', async (one) => {
  const log = createLog({ level: 'silent', function: one.name, revision: undefined });
  const metrics = new Metrics();
  const { signal } = new AbortController();
  const scope = { log, clock: systemClock, metrics, asksTokens: false, signal };
  const defaults = Object.entries(one.config).map(([key, variable]) => [
    key,
    (variable as { readonly fallback?: unknown }).fallback,
  ]);
  const deps = await one.open({ ...Object.fromEntries(defaults), kubeconfigPath }, scope);
  const context = { ...scope, deps, traceparent: undefined };
  const handle = (data: unknown, type: string): unknown =>
    one.handle?.(eventOf(data, type), context);
  await fc.assert(
    fc.asyncProperty(
      mangled,
      fc.constantFrom(...TYPES),
      fc.boolean(),
      async (data, type, isOwn) => {
        const own = typeof data === 'object' && data !== null && KINDS[one.name];
        const about = isOwn && own ? { ...data, kind: own } : data;
        expect(await bugIn(() => handle(about, type))).toBeUndefined();
      },
    ),
    { numRuns: 40 },
  );
  await one.close?.(deps);
});
