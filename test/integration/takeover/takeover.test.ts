// A real etcd 3.3.27 of three members as bare pods, and the function under its own account: it
// plans on what they say, and anew when they say something else. Nothing of theirs is changed.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { takeover } from '../../../functions/takeover/index.ts';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { LEGACY_ETCDS, TAKEOVERS } from '../../../shared/api/takeover.ts';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { askLegacy } from '../../../shared/etcd/legacy.ts';
import { openKube } from '../../../shared/kube/client.ts';
import { SWEEP } from '../../../shared/function/sources.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { CLAIMS, PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { defineLegacyEtcd, LegacyEtcd } from '../../builders/legacy-etcd.ts';
import { type OldPod, oldPods } from '../../builders/old-pods.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { startOwnPart } from '../../lanes/own-part.ts';
import { Installed } from '../manifests/installed.ts';

const MAIN = fileURLToPath(new URL('../../../knative/tools/takeover/main.ts', import.meta.url));
const namespace = 'shop';
const MEMBERS = oldPods(['old-a', 'old-b', 'old-c'], `old.${namespace}.svc`);
const LONG = { timeout: 60_000, interval: 500 };

let installed: Installed;
let etcds: readonly Part[];
let running: RunningFunction;
let old: LegacyEtcd;

async function startMember({ name, ip }: OldPod): Promise<Part> {
  const { plane } = installed;
  const url = `http://${ip}:2379`;
  return startOwnPart(plane, {
    name,
    command: await resolvePart('etcd-3-3'),
    args: [
      `--name=${name}`,
      `--data-dir=${join(plane.dir, name)}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=http://${ip}:2380`,
      `--initial-advertise-peer-urls=http://${ip}:2380`,
      `--initial-cluster=${MEMBERS.map((one) => `${one.name}=http://${one.ip}:2380`).join(',')}`,
      '--initial-cluster-state=new',
    ],
    env: {},
    url,
    ready: async () => (await askLegacy({ url }, undefined, { timeoutMs: 2_000 })).isQuorate,
  });
}

async function grant(into: readonly string[]): Promise<void> {
  const rights = takeoverRights(namespace, [], undefined, into);
  await applyObjects(
    installed.kube,
    rights.map((object) => ({ file: 'npm run rights', object })),
  );
}

beforeAll(async () => {
  installed = await Installed.open();
  const { kube } = installed;
  etcds = await Promise.all(MEMBERS.map(startMember));
  const metadata = { name: namespace };
  const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
  await kube.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
  await grant([]);
  running = await installed.run(takeover);
  old = new LegacyEtcd(kube, namespace, 'old');
}, 120_000);

afterAll(async () => {
  await installed?.stop();
});

const sweep = async (): Promise<void> => {
  expect((await sendEvent(running.port, SWEEP, {})).status).toBe(204);
};
const planOf = async () => {
  await sweep();
  return (await old.statusOf('over')).plan;
};
const reasons = async (): Promise<readonly string[]> =>
  ((await planOf())?.refusals ?? []).map(({ reason }) => reason);

/** As `npm run takeover` does, with the rights of an administrator. */
async function command(...args: readonly string[]) {
  const env = { PATH: process.env['PATH'], KUBECONFIG: installed.plane.kubeconfigPath };
  const ended = promisify(execFile)(process.execPath, [MAIN, ...args], { env });
  const { stdout, code = 0 } = await ended.catch((error: unknown) => Object(error));
  return { stdout: String(stdout), code: Number(code) };
}

test('where nobody knows the kind there is nothing to take over', async () => {
  const nothing = { code: 0, stdout: expect.stringMatching(/^Nothing of an operator .*\n$/) };
  expect(await command()).toEqual(nothing);
  await old.takeOver('over');
  expect(await reasons()).toEqual(['KindMissing']);
  await defineLegacyEtcd(installed.kube);
  expect(await reasons()).toEqual(['LegacyMissing']);
  const { stdout } = await command();
  const line = '&& test -z "$left" && kubectl delete crd etcdclusters.etcd.database.coreos.com\n';
  expect(stdout.endsWith(line)).toBe(true);
});

test('what was not granted by name is told when it is planned, with what grants it', async () => {
  const { kube } = installed;
  const [first, ...others] = MEMBERS;
  const pods = others.map((one) => ({ ...one, claim: one.name }));
  await old.create([...(first === undefined ? [] : [first]), ...pods]);
  const forbidden = (grants: string) => ({
    reason: 'EtcdClusterForbidden',
    message: expect.stringMatching(
      new RegExp(`^The function may not make EtcdCluster shop/old-2: .* -n shop ${grants} [|] kub`),
    ),
  });
  expect((await planOf())?.refusals).toEqual([forbidden('--into old-2')]);
  await grant(['old-2']);
  await expect.poll(reasons, LONG).toEqual([]);
  const spec = { tls: { peers: { secretName: 'web-tls' } } };
  await old.takeOver('foreign', { into: { name: 'old-2', spec } });
  await sweep();
  const { plan } = await old.statusOf('foreign');
  expect(plan?.refusals).toContainEqual(forbidden('--into old-2 --secret web-tls'));
  const uid = (await kube.get(TAKEOVERS, { namespace, name: 'foreign' }))?.metadata.uid ?? '';
  await kube.delete(TAKEOVERS, { namespace, name: 'foreign' }, { uid }, {});
});

test('it plans on what real members say, and changes nothing of them', async () => {
  const { kube } = installed;
  const all = async () => {
    const kinds = [LEGACY_ETCDS, PODS, SERVICES, CLAIMS];
    const lists = await Promise.all(kinds.map((ref) => kube.list(ref, { namespace })));
    return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.resourceVersion));
  };
  const before = await all();
  const plan = await planOf();
  expect(plan).toMatchObject({ id: expect.stringMatching(/^over-/), refusals: [] });
  const { members = [] } = await old.statusOf('over');
  expect(members.map(({ pod, version, storage }) => [pod, version, storage])).toEqual([
    ['old-a', '3.3.27', 'EmptyDir'],
    ['old-b', '3.3.27', 'Claim'],
    ['old-c', '3.3.27', 'Claim'],
  ]);
  expect(members.filter(({ leads }) => leads)).toHaveLength(1);
  expect(plan?.steps.map(({ name }) => name)).toEqual([
    'FreezeWriters',
    'Snapshot',
    'MakeCluster',
    'Compare',
    'SwitchService',
    'OrphanClaims',
    'DeleteLegacy',
  ]);
  const { code, stdout } = await command('-n', namespace);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`has plan ${plan?.id}.`)]);
  expect(await all()).toEqual(before);
  expect((await kube.list(ETCD_CLUSTERS)).items).toEqual([]);
});

test('without a quorum there is no plan, and with it the same one again', async () => {
  const id = (await planOf())?.id;
  const [, two, three] = etcds;
  await Promise.all([two?.kill(), three?.kill()]);
  await expect.poll(reasons, LONG).toEqual(['NoQuorum']);
  expect((await planOf())?.id).toBeUndefined();
  await Promise.all([two?.start(), three?.start()]);
  await expect.poll(async () => (await planOf())?.id, LONG).toBe(id);
});

test('its account makes no EtcdCluster of its own', async () => {
  const account = { namespace: 'ballast-system', name: 'takeover' };
  const kubeconfigPath = await installed.accounts.kubeconfigFor('thief', account);
  const thief = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  try {
    const made = thief.create(ETCD_CLUSTERS, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { namespace, name: 'mine' },
      spec: {},
    });
    await expect(made).rejects.toThrow('makes EtcdClusters for Takeovers alone');
  } finally {
    await thief.close();
  }
});
