// A client that is written in v1alpha1 asks in the version that is served, kind by kind, and hears
// what it would have heard.
import { expect, test } from 'vitest';
import { errorFromAnswer, readStatus } from '../../../shared/kube/errors.ts';
import type { ManagedFieldsEntry } from '../../../shared/kube/objects.ts';
import { ServedVersion } from '../../../shared/kube/own-kinds/served-version.ts';
import { heard } from '../../../shared/kube/own-kinds/words.ts';
import type { AboutResource, KubeRequest } from '../../../shared/kube/request.ts';

const about = (resource: string, version = 'v1alpha1'): AboutResource => ({
  verb: 'get',
  ref: { group: 'ballast.dev', version, resource },
  name: 'one',
});

const request = (resource: string, body?: object, version = 'v1alpha1'): KubeRequest => ({
  about: about(resource, version),
  method: 'GET',
  path: `/apis/ballast.dev/${version}/${resource}/one`,
  ...(body === undefined ? {} : { body }),
  repeat: 'always',
});

const refused = (reason: string, message: string): Error =>
  errorFromAnswer(about('etcdpeers'), readStatus(404, JSON.stringify({ reason, message })));
const unserved = (): Error =>
  refused('NotFound', 'the server could not find the requested resource');

/** An API server that serves these versions, and what it was asked. */
class Server {
  readonly served: Set<string>;
  readonly asked: KubeRequest[] = [];
  problem: Error | undefined;
  readonly told: Error[] = [];

  constructor(...served: readonly string[]) {
    this.served = new Set(served);
  }

  readonly send = async (asked: KubeRequest): Promise<string> => {
    this.asked.push(asked);
    const [, , , version = ''] = asked.path.split('/');
    if (!this.served.has(version)) {
      const error = unserved();
      this.told.push(error);
      throw error;
    }
    if (this.problem !== undefined) throw this.problem;
    return version;
  };

  get paths(): readonly string[] {
    return this.asked.map(({ path }) => path);
  }
}

test('the version that is served is asked for, and remembered for each kind', async () => {
  const server = new Server('v1beta1');
  const served = new ServedVersion();
  for (let times = 0; times < 2; times += 1) {
    expect(await served.ask(request('etcdpeers'), server.send)).toBe('v1beta1');
  }
  expect(await served.ask(request('takeovers'), server.send)).toBe('v1beta1');
  expect(server.paths).toEqual([
    '/apis/ballast.dev/v1alpha1/etcdpeers/one',
    '/apis/ballast.dev/v1beta1/etcdpeers/one',
    '/apis/ballast.dev/v1beta1/etcdpeers/one',
    '/apis/ballast.dev/v1alpha1/takeovers/one',
    '/apis/ballast.dev/v1beta1/takeovers/one',
  ]);
});

test('it stays with a version while that is served, and comes back to the first', async () => {
  const server = new Server('v1alpha1', 'v1beta1');
  const served = new ServedVersion();
  const ask = (): Promise<string> => served.ask(request('etcdpeers'), server.send);
  expect(await ask()).toBe('v1alpha1');
  server.served.delete('v1alpha1');
  expect(await ask()).toBe('v1beta1');
  server.served.add('v1alpha1');
  expect(await ask()).toBe('v1beta1');
  server.served.delete('v1beta1');
  expect(await ask()).toBe('v1alpha1');
});

test('an object that is not there, and a kind that nobody serves, are told as ever', async () => {
  const server = new Server('v1alpha1');
  const served = new ServedVersion();
  server.problem = refused('NotFound', 'etcdpeers.ballast.dev "one" not found');
  await expect(served.ask(request('etcdpeers'), server.send)).rejects.toBe(server.problem);
  expect(server.asked).toHaveLength(1);
  const none = new Server();
  const error: unknown = await served.ask(request('etcdpeers'), none.send).catch((one) => one);
  expect(none.told.indexOf(error as Error)).toBe(0);
  none.served.add('v1alpha1');
  expect(await served.ask(request('etcdpeers'), none.send)).toBe('v1alpha1');
  expect(none.asked).toHaveLength(3);
});

test('who names a version, or another group, is asked for nothing else', async () => {
  const server = new Server('v1alpha1');
  const asked = request('etcdpeers', undefined, 'v1beta1');
  await expect(new ServedVersion().ask(asked, server.send)).rejects.toThrow('requested resource');
  expect(server.asked).toEqual([asked]);
});

const type = { apiVersion: 'ballast.dev/v1alpha1', kind: 'EtcdPeer' };

test.each<[string, object, object]>([
  [
    'an object',
    { ...type, metadata: { name: 'one' }, spec: { cluster: 'main' } },
    {
      apiVersion: 'ballast.dev/v1beta1',
      kind: 'EtcdPeer',
      metadata: { name: 'one' },
      spec: { etcdCluster: { name: 'main' } },
    },
  ],
  ['a patch', { spec: { cluster: 'main' } }, { spec: { etcdCluster: { name: 'main' } } }],
  ['how to delete', { apiVersion: 'v1', kind: 'X' }, { apiVersion: 'v1', kind: 'X' }],
])('%s is sent in the words of the version', async (_what, body, sent) => {
  const server = new Server('v1beta1');
  await new ServedVersion().ask(request('etcdpeers', body), server.send);
  expect(server.asked.at(-1)?.body).toEqual(sent);
});

test('a patch whose words say nothing without their neighbours is refused', async () => {
  const body = { spec: { compaction: { retention: '1h' } } };
  const server = new Server('v1beta1');
  const ask = new ServedVersion().ask(request('etcdclusters', body), server.send);
  await expect(ask).rejects.toThrow('apply the whole record instead');
  expect(server.asked).toHaveLength(1);
});

test('an answer in the later version is heard in the words of who asked', async () => {
  const server = new Server('v1beta1');
  const served = new ServedVersion();
  await served.ask(request('etcdpeers'), server.send);
  const spec = { etcdCluster: { name: 'main' } };
  const peer = { apiVersion: 'ballast.dev/v1beta1', kind: 'EtcdPeer', metadata: {}, spec };
  expect(served.heard(about('etcdpeers'), peer)).toEqual({
    ...type,
    metadata: {},
    spec: { cluster: 'main' },
  });
  expect(served.heard(about('etcdpeers', 'v1beta1'), peer)).toBe(peer);
});

test('words that do not fit are kept beside an object that is written', async () => {
  const server = new Server('v1beta1');
  const spec = { compaction: { mode: 'Periodic', retention: '60m' } };
  const body = { ...type, kind: 'EtcdCluster', metadata: { name: 'one' }, spec };
  await new ServedVersion().ask(request('etcdclusters', body), server.send);
  const sent = server.asked.at(-1)?.body as Readonly<Record<string, object>>;
  expect(sent['spec']).toEqual({ compaction: { mode: 'Periodic', retentionSeconds: 3_600 } });
  expect(heard(about('etcdclusters'), sent)).toMatchObject({ spec });
});

test('an annotation near its bound keeps no object from being read', () => {
  const annotations = { a: 'x'.repeat(262_100) };
  const spec = { resources: [{ group: '', resource: 'pods', selector: { matchExpressions: [] } }] };
  const feed = {
    apiVersion: 'ballast.dev/v1beta1',
    kind: 'MetadataFeed',
    metadata: { annotations },
    spec,
  };
  const list = { apiVersion: 'ballast.dev/v1beta1', kind: 'MetadataFeedList', items: [feed] };
  expect(heard(about('metadatafeeds'), list)).toMatchObject({
    apiVersion: 'ballast.dev/v1alpha1',
    items: [{ apiVersion: 'ballast.dev/v1alpha1' }],
  });
});

test('who wrote what of a status is told in its words, and what is in them is as good', () => {
  const entry = (version: string, fields: object): ManagedFieldsEntry => ({
    manager: 'etcd-backup',
    apiVersion: `ballast.dev/${version}`,
    fieldsV1: { 'f:status': fields },
  });
  const [conditions, other] = [{ 'f:conditions': { 'k:{"type":"Ready"}': {} } }, { '.': {} }];
  const managedFields = [
    entry('v1beta1', { ...other, 'f:startTime': {}, ...conditions }),
    entry('v1alpha1', { 'f:startedAt': {} }),
    { manager: 'kubectl', apiVersion: 'v1' },
  ];
  const answer = {
    apiVersion: 'ballast.dev/v1beta1',
    kind: 'EtcdBackup',
    metadata: { managedFields },
    status: { startTime: 'then' },
  };
  expect(heard(about('etcdbackups'), answer)).toEqual({
    apiVersion: 'ballast.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: {
      managedFields: [
        entry('v1alpha1', { ...other, 'f:startedAt': {}, ...conditions }),
        entry('v1alpha1', { 'f:startedAt': {} }),
        { manager: 'kubectl', apiVersion: 'v1' },
      ],
    },
    status: { startedAt: 'then' },
  });
});

test('the metadata of objects alone, and what is no object, are heard as they are', () => {
  for (const answer of [
    { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: {} },
    { kind: 'Status', status: 'Success' },
    'text',
  ]) {
    expect(heard(about('etcdpeers'), answer)).toEqual(answer);
  }
});
