// The account of etcd-peer in the wrong hands, where it is granted its rights: it may write what an
// EtcdPeer is made of, and nothing else.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { peerOf } from '../../../functions/etcd-peer/peer.ts';
import { claimManifest } from '../../../functions/etcd-peer/render/claim.ts';
import { render } from '../../../functions/etcd-peer/render/stateful-set.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { etcdPeerRights } from '../../../knative/tools/rights/etcd-peer.ts';
import { ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { letPeersBeWritten, PEER_SPEC, peerManifest } from '../../builders/peer-writers.ts';
import { until } from '../../builders/versioned-kind.ts';
import { type Outcome, StolenAccount } from './accounts-at-work.ts';
import { forgedLife } from './forged-life.ts';
import { Installed } from './installed.ts';

const namespace = 'default';
const SETS = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;
const CLAIMS = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
const PEERS = `/apis/ballast.dev/v1alpha1/namespaces/${namespace}/etcdpeers`;

let installed: Installed;
let stolen: StolenAccount;
let made: KubeObject;

beforeAll(async () => {
  installed = await Installed.open();
  const { kube, plane } = installed;
  const file = 'npm run rights';
  await applyObjects(
    kube,
    etcdPeerRights(namespace).map((object) => ({ file, object })),
  );
  await letPeersBeWritten(kube);
  const manifest = peerManifest(namespace, 'main-0');
  const metadata = { ...manifest.metadata, finalizers: ['example.com/held'] };
  made = (await kube.create(ETCD_PEERS, { ...manifest, metadata })).object;
  stolen = await StolenAccount.of(plane, kube, 'etcd-peer');
  // Rights and policies hold a moment after they were made.
  await until(
    'the policy to hold',
    async () => (await write(SETS, changed({ metadata: { labels: {} } }))).status === 422,
  );
});

afterAll(async () => {
  await installed?.stop();
});

const write = (path: string, body: object): Promise<Outcome> => stolen.dryRun('POST', path, body);

interface Changes {
  readonly metadata?: object;
  readonly spec?: object;
  /** Changes of the pod, and of its one container. */
  readonly pod?: object;
  readonly container?: object;
}

/** The StatefulSet as its function makes it, with something else in it. */
function changed({ metadata = {}, spec = {}, pod = {}, container = {} }: Changes): object {
  const whole = structuredClone(render(peerOf(made), { isBorn: false }).manifest) as unknown as {
    metadata: object;
    spec: { template: { spec: { containers: [object] } } };
  };
  Object.assign(whole.metadata, metadata);
  Object.assign(whole.spec.template.spec.containers[0], container);
  Object.assign(whole.spec.template.spec, pod);
  Object.assign(whole.spec, spec);
  return whole;
}

const claim = (metadata: object, spec: object = {}): object => {
  const whole = claimManifest(peerOf(made));
  const own = whole['spec'] as object;
  return { ...whole, metadata: { ...whole.metadata, ...metadata }, spec: { ...own, ...spec } };
};

test('it makes what an EtcdPeer is made of', async () => {
  expect(await write(SETS, changed({}))).toMatchObject({ status: 201 });
  expect(await write(CLAIMS, claim({}))).toMatchObject({ status: 201 });
});

const volume = (source: object) => ({ volumes: [{ name: 'data', ...source }] });
const secret = (secretName: string) => volume({ secret: { secretName } });

const FORGED: readonly (readonly [what: string, changes: Changes, why: string])[] = [
  ...forgedLife({}).map(([what, container]) => [what, { container }, 'The kubelet'] as const),
  // The API server itself knows of none in a template.
  [
    'with a container for a while',
    { pod: { ephemeralContainers: [{ name: 'b', image: PEER_SPEC.image }] } },
    'not allowed in pod template',
  ],
  ['without labels', { metadata: { labels: {} } }, 'has no labels'],
  ['of another name', { metadata: { name: 'other-0' } }, 'The name is none'],
  ['that belong to nobody', { metadata: { ownerReferences: [] } }, 'does not belong to'],
  ['on the network of their node', { pod: { hostNetwork: true } }, 'share nothing'],
  ['among the processes of their node', { pod: { hostPID: true } }, 'share nothing'],
  ['on a node of choice', { pod: { nodeName: 'one' } }, 'share nothing'],
  ['before others', { pod: { priorityClassName: 'system-node-critical' } }, 'share nothing'],
  ['with a token', { pod: { automountServiceAccountToken: true } }, 'have no account'],
  ['with an account', { pod: { serviceAccountName: 'strong' } }, 'have no account'],
  ['with the Secret of others', { pod: secret('passwords') }, 'nobody else'],
  [
    'with the volume of others',
    { pod: volume({ persistentVolumeClaim: { claimName: 'data-web-0' } }) },
    'nobody else',
  ],
  ['with a directory of their node', { pod: volume({ hostPath: { path: '/' } }) }, 'nobody else'],
  ['that run another program', { container: { command: ['/bin/sh'] } }, 'one container'],
  [
    'that read a Secret',
    {
      container: {
        env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'passwords', key: 'a' } } }],
      },
    },
    'one container',
  ],
  [
    'that are told by the Secret of others how to start',
    {
      container: {
        env: [{ name: 'START', valueFrom: { secretKeyRef: { name: 'web-starts', key: 'a' } } }],
      },
    },
    'one container',
  ],
  [
    'that run something before',
    { pod: { initContainers: [{ name: 'a', image: PEER_SPEC.image }] } },
    'one container',
  ],
  [
    'with privileges',
    { container: { securityContext: { allowPrivilegeEscalation: true } } },
    'no privileges',
  ],
  ['as root', { pod: { securityContext: { runAsUser: 0 } } }, 'no privileges'],
  [
    'with an image of its own',
    { container: { image: 'images.example.com/miner:1.0.0' } },
    'not all may run',
  ],
];

test.each(FORGED)('it is refused members %s', async (_, changes, why) => {
  const { status, text } = await write(SETS, changed(changes));
  expect([status, text]).toEqual([422, expect.stringContaining(why)]);
});

test.each<[what: string, body: () => object, why: string]>([
  ['of another name', () => claim({ name: 'data-web-0' }), 'The name is none'],
  ['without labels', () => claim({ labels: {} }), 'has no labels'],
  [
    'with the data of others',
    () => claim({}, { dataSource: { kind: 'PersistentVolumeClaim', name: 'data-web-0' } }),
    'begins empty',
  ],
])('it is refused a claim %s', async (_, body, why) => {
  const { status, text } = await write(CLAIMS, body());
  expect([status, text]).toEqual([422, expect.stringContaining(why)]);
});

test.each<[what: string, body: object]>([
  ['its spec', { spec: { running: false } }],
  ['its labels', { metadata: { labels: { a: 'b' } } }],
  ['its annotations', { metadata: { annotations: { a: 'b' } } }],
  ['the finalizers of others', { metadata: { finalizers: ['ballast.dev/etcd-peer'] } }],
])('of an EtcdPeer it does not change %s', async (_, body) => {
  const path = `${PEERS}/main-0?dryRun=All`;
  const { status, text } = await stolen.try({ method: 'PATCH', path, body });
  expect([status, text]).toEqual([422, expect.stringContaining('nothing of an EtcdPeer but')]);
});

test('it takes and gives its own finalizer, and deletes no claim, no pod and no peer', async () => {
  const finalizers = ['example.com/held', 'ballast.dev/etcd-peer'];
  const path = `${PEERS}/main-0`;
  const held = await stolen.try({ method: 'PATCH', path, body: { metadata: { finalizers } } });
  expect(held.status).toBe(200);
  const pods = `/api/v1/namespaces/${namespace}/pods/main-0-0`;
  for (const one of [path, `${CLAIMS}/data-main-0`, pods]) {
    expect([one, (await stolen.try({ method: 'DELETE', path: one })).status]).toEqual([one, 403]);
  }
});

test('what others made is neither taken over nor changed', async () => {
  const { kube } = installed;
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await kube.create(
    { group: '', version: 'v1', resource: 'persistentvolumeclaims' },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace, name: 'data-main-0' },
      spec,
    },
  );
  const { labels } = claimManifest(peerOf(made)).metadata;
  const body = { metadata: { labels } };
  const path = `${CLAIMS}/data-main-0`;
  const { status, text } = await stolen.try({ method: 'PATCH', path, body });
  expect([status, text]).toEqual([422, expect.stringContaining('belongs to somebody else')]);
});
