// A cluster of three nodes does what a cluster does: runs pods on each of them, finds Services by
// name, keeps volumes where they were made, and shows what goes on inside. How it bears the loss of
// a node, or of its kubelet, is in nats-cluster/traffic.test.ts.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ReachedCluster } from '../../knative/try/cluster/reached-cluster.ts';
import { Kubectl } from './support/kubectl.ts';
import { NODE_PATH } from './support/node-image.ts';
import { claim, pod, service, WEB } from './support/pods.ts';
import { providedCluster } from './support/provided-cluster.ts';

let dir: string;
let cluster: ReachedCluster;
let kubectl: Kubectl;

const NODES = ['node-1', 'node-2', 'node-3'];
const within = { timeout: 60_000, interval: 200 };

/** Without a name server; with one that is silent it was forty seconds and more. */
const MISSED_WITHIN_MS = 20_000;

const ready = (name: string): Promise<string> =>
  kubectl.run('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=60s');

const field = (resource: string, path: string): Promise<string> =>
  kubectl.run('get', ...resource.split(' '), `--output=jsonpath={${path}}`);

const textOf = async (url: string): Promise<string> =>
  (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();

/** Asked from inside of a pod. */
const fetchIn = (name: string, url: string): Promise<string> =>
  kubectl.run(
    'exec',
    name,
    '--',
    NODE_PATH,
    '-e',
    `fetch('${url}').then((answer) => answer.text()).then(console.log)`,
  );

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-cluster-test-'));
  cluster = await providedCluster();
  kubectl = await Kubectl.at(cluster.kubeconfigPath, dir);
  await kubectl.apply(
    ...NODES.map((node) => pod({ name: `web-${node}`, script: WEB, node })),
    service('web-node-1'),
  );
  await Promise.all(NODES.map((node) => ready(`web-${node}`)));
});

afterAll(async () => {
  // `kubectl drain` refuses a node with pods that nobody would make anew.
  await kubectl?.run('delete', 'pod', '--all', '--now');
  await rm(dir, { recursive: true, force: true });
});

test('three nodes are ready, each under an address of its own', async () => {
  const conditions = '.items[*].status.conditions[?(@.type=="Ready")].status';
  expect(await field('nodes', conditions)).toBe('True True True');
  const addresses = await field(
    'nodes',
    '.items[*].status.addresses[?(@.type=="InternalIP")].address',
  );
  expect(addresses.split(' ')).toEqual(cluster.nodes.map(({ address }) => address));
});

test('pods of every node reach each other and are reached from this machine', async () => {
  for (const node of NODES) {
    const ip = await field(`pod web-${node}`, '.status.podIP');
    expect(await textOf(`http://${ip}:8080`)).toBe(`web-${node}`);
    expect(await fetchIn('web-node-1', `http://${ip}:8080`)).toBe(`web-${node}`);
  }
});

test('a Service is found by its name in a pod, also by the pod that serves it', async () => {
  const url = 'http://web-node-1.default.svc.cluster.local';
  for (const node of NODES) {
    await vi.waitFor(
      async () => expect(await fetchIn(`web-${node}`, url)).toBe('web-node-1'),
      within,
    );
  }
});

test('a Service is reached from this machine by its address', async () => {
  const ip = await field('service web-node-1', '.spec.clusterIP');
  expect(await textOf(`http://${ip}`)).toBe('web-node-1');
});

test('a name outside of the cluster is refused at once, and not waited for', async () => {
  const script = `require('dns').lookup('example.org', (error) => console.log(error.code))`;
  const said = await kubectl.run('exec', 'web-node-1', '--', NODE_PATH, '-e', script);
  expect(['ENOTFOUND', 'EAI_AGAIN']).toContain(said);
});

test('an image that nobody has imported is missed at once, and not asked for outside', async () => {
  await kubectl.run('run', 'nobodys', '--image=nobodys:1', '--restart=Never');
  const path = '.status.containerStatuses[0].state.waiting.reason';
  await vi.waitFor(
    async () =>
      expect(await field('pod nobodys', path)).toMatch(/^(ErrImagePull|ImagePullBackOff)$/),
    { ...within, timeout: MISSED_WITHIN_MS },
  );
});

test('kubectl shows the log of a pod, and forwards a port to it', async () => {
  expect(await kubectl.run('logs', 'web-node-2')).toBe('serving');
  const forward = await kubectl.forward('default', 'web-node-3', 8080);
  try {
    expect(await textOf(forward.url)).toBe('web-node-3');
  } finally {
    forward.stop();
  }
});

test('nobody asks a kubelet anything without a certificate', async () => {
  const address = cluster.node('node-1').address;
  const script = `
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    fetch('https://${address}:10250/pods').then((answer) => console.log(answer.status));
  `;
  expect(await kubectl.run('exec', 'web-node-1', '--', NODE_PATH, '-e', script)).toContain('401');
});

test('a kubelet may neither see nor change another node', async () => {
  const as = ['--as=system:node:node-1', '--as-group=system:nodes'];
  const denied = kubectl.run('label', 'node', 'node-2', 'mine=yes', ...as);
  await expect(denied).rejects.toThrow('only its own Node object');
});

test('a pod that is not root writes to a volume of its group, and finds it again', async () => {
  const write = `require('fs').writeFileSync('/data/word', 'kept'); setInterval(() => {}, 1e6)`;
  await kubectl.apply(claim('kept'), pod({ name: 'writer', script: write, claim: 'kept' }));
  await ready('writer');
  const node = await field('pod writer', '.spec.nodeName');
  await kubectl.run('delete', 'pod', 'writer', '--now');
  const print = `console.log(require('fs').readFileSync('/data/word', 'utf8'))`;
  const read = `${print}; setInterval(() => {}, 1e6)`;
  await kubectl.apply(pod({ name: 'reader', script: read, claim: 'kept' }));
  await ready('reader');
  expect(await field('pod reader', '.spec.nodeName')).toBe(node);
  await vi.waitFor(async () => expect(await kubectl.run('logs', 'reader')).toBe('kept'), within);
});

test('a claim grows, and goes with its directory', async () => {
  const size = `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`;
  await kubectl.run('patch', 'pvc', 'kept', '--patch', size);
  const isGrown = async (): Promise<void> =>
    expect(await field('pvc kept', '.status.capacity.storage')).toBe('2Gi');
  await vi.waitFor(isGrown, within);
  const node = await field('pod reader', '.spec.nodeName');
  const volume = await field('pvc kept', '.spec.volumeName');
  const volumes = join(cluster.dir, 'nodes', node, 'volumes');
  expect(await readdir(volumes)).toContain(volume);
  await kubectl.run('delete', 'pod', 'reader', '--now');
  await kubectl.run('delete', 'pvc', 'kept');
  await vi.waitFor(async () => expect(await readdir(volumes)).not.toContain(volume), within);
});
