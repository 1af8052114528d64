// A real nats-server 2.1.9 of three servers as bare pods, with logins and TLS, and the function
// under its own account: it plans on what they say and on what they were told. Nothing of theirs is
// changed before a person confirms it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { takeover } from '../../../functions/takeover/index.ts';
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { runTakeover } from '../../../knative/tools/takeover/command.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import type { Part } from '../../../knative/try/local/process/part.ts';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { LEGACY_NATS } from '../../../shared/api/takeover.ts';
import { SWEEP } from '../../../shared/function/sources.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { openKube } from '../../../shared/kube/client.ts';
import { PODS, SECRETS, SERVICES } from '../../../shared/stateful/parts.ts';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import { configText, defineLegacyNats, LegacyNats } from '../../builders/legacy-nats.ts';
import { startOldNats } from '../../builders/old-nats-servers.ts';
import { oldPods } from '../../builders/old-pods.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { startOwnPart } from '../../lanes/own-part.ts';
import { Installed } from '../manifests/installed.ts';

const namespace = 'shop';
const ACCOUNT = { namespace: 'ballast-system', name: 'takeover' };
const SERVERS = oldPods(['old-1', 'old-2', 'old-3'], `old-mgmt.${namespace}.svc`);
const PASSWORD = 'known to nobody else';
const GIVEN = { tls: { clients: { secretName: 'new-tls' } } };
const LONG = { timeout: 60_000, interval: 500 };

/** The example of the operator, and TLS. */
const CONFIG = {
  logtime: true,
  authorization: {
    timeout: 5,
    users: [
      {
        username: 'user0',
        password: PASSWORD,
        permissions: { publish: { allow: ['public.>'], deny: ['private.>'] } },
      },
      { username: 'user1', password: PASSWORD },
      {
        username: 'user2',
        password: PASSWORD,
        permissions: { publish: ['hello.*'], subscribe: ['hello.world'] },
      },
    ],
    default_permissions: { publish: ['SANDBOX.*'], subscribe: ['PUBLIC.>'] },
  },
};

let installed: Installed;
let parts: ReadonlyMap<string, Part>;
let running: RunningFunction;
let old: LegacyNats;

beforeAll(async () => {
  installed = await Installed.open();
  const { kube, plane } = installed;
  const validity = { fromMs: Date.now() - 60_000, toMs: Date.now() + 3_600_000 };
  const hosts = [`old.${namespace}.svc`];
  const { certPem, keyPem } = issue(makeAuthority('nats', validity), { hosts }, validity);
  parts = await startOldNats({
    dir: plane.dir,
    servers: SERVERS,
    certPem,
    keyPem,
    config: CONFIG,
    add: (spec) => startOwnPart(plane, spec),
  });
  const metadata = { name: namespace };
  const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
  await kube.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
  running = await installed.run(takeover, { WORK_SECONDS: '0.1' });
  await defineLegacyNats(kube);
  await grant();
  old = new LegacyNats(kube, namespace, 'old');
  await old.create(SERVERS, { ...CONFIG, cluster: { port: 6222 }, tls: { cert_file: 'tls.crt' } });
}, 60_000);

afterAll(async () => {
  await installed?.stop();
});

const grant = (...secrets: readonly string[]) =>
  applyObjects(
    installed.kube,
    takeoverRights(namespace, secrets).map((object) => ({ file: 'npm run rights', object })),
  );

const statusOf = async (name: string) => {
  expect((await sendEvent(running.port, SWEEP, {})).status).toBe(204);
  return old.statusOf(name);
};
const reasonsOf = async (name: string): Promise<readonly string[]> =>
  ((await statusOf(name)).plan?.refusals ?? []).map(({ reason }) => reason);

const printed = async (): Promise<{ readonly code: number; readonly out: string }> => {
  let out = '';
  const terminal = { out: (text: string) => void (out += text), err: () => undefined };
  const options = { userAgent: 'test', fieldManager: 'test' };
  const open = async () => openKube({ ...options, kubeconfigPath: installed.plane.kubeconfigPath });
  return { code: await runTakeover(['-n', namespace], terminal, open), out };
};

test('what servers were told is read only where that Secret was granted', async () => {
  await old.takeOver('blind', GIVEN);
  expect(await reasonsOf('blind')).toEqual(['SecretForbidden', 'NatsClusterRefused']);
  const { plan } = await old.statusOf('blind');
  const options = '--secret old --secret old-2-users --secret new-tls';
  expect(plan?.refusals[0]?.message).toContain(`takeover -n shop ${options} | kubectl apply`);
  expect(plan?.refusals[1]?.message).toContain(
    'Secret INTO-users alone, which it has to be granted',
  );
  await grant('old', 'old-2-users', 'new-tls');
  await expect.poll(() => reasonsOf('blind'), LONG).toEqual([]);
});

test('it plans on real servers of 2.1.9, and changes nothing', async () => {
  const { kube } = installed;
  const all = async () => {
    const lists = await Promise.all(
      [LEGACY_NATS, PODS, SERVICES, SECRETS].map((ref) => kube.list(ref, { namespace })),
    );
    return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.resourceVersion));
  };
  const before = await all();
  const { plan, members } = await statusOf('blind');
  expect(members).toEqual(SERVERS.map(({ name: pod }) => ({ pod, version: '2.1.9' })));
  expect(plan?.id).toMatch(/^blind-/);
  expect(plan?.objects.map(({ action, kind, name }) => `${action} ${kind} ${name}`)).toEqual([
    'Make Secret old-2-users',
    'Make NatsCluster old-2',
    'Adopt Service old',
    'Delete Pod old-1',
    'Delete Pod old-2',
    'Delete Pod old-3',
    'Delete Service old-mgmt',
    'Delete NatsCluster (nats.io) old',
    'Delete Secret old',
    'Keep CustomResourceDefinition natsclusters.nats.io',
  ]);
  expect(plan?.objects[0]?.why).toContain('The passwords of 3 users');
  const { code, out } = await printed();
  expect(code).toBe(0);
  expect(out).toContain('NatsCluster shop/old of nats.io, into NatsCluster old-2');
  expect(out).toMatch(/^3 SwitchService +- +- +Service old leads to NatsCluster old-2/m);
  expect(`${out}${JSON.stringify(await old.statusOf('blind'))}`).not.toContain(PASSWORD);
  expect(await all()).toEqual(before);
  expect((await kube.list(NATS_CLUSTERS)).items).toEqual([]);
});

test('servers that run on something else than their Secret are told', async () => {
  const { authorization: _, ...open } = CONFIG;
  const text = configText({ ...open, tls: { cert_file: 'tls.crt' } });
  const body = { stringData: { 'nats.conf': text } };
  await installed.kube.patch(SECRETS, { namespace, name: 'old' }, { type: 'merge', body });
  expect(await reasonsOf('blind')).toEqual(['NoLogin', 'ConfigNotLoaded']);
  const { plan } = await old.statusOf('blind');
  expect(plan?.refusals[1]?.message).toContain('What old-1, old-2, old-3 asks of clients');
});

test('one that does not answer is a note, and none that does a refusal', async () => {
  const [first, ...others] = SERVERS.map(({ name }) => parts.get(name));
  await first?.kill();
  const notes = async () => ((await statusOf('blind')).plan?.notes ?? []).map((one) => one.reason);
  await expect.poll(notes, LONG).toContain('MembersAway');
  for (const one of others) await one?.kill();
  await expect.poll(() => reasonsOf('blind'), LONG).toContain('ServersSilent');
});

test('its account makes no NatsCluster for nobody', async () => {
  const kubeconfigPath = await installed.accounts.kubeconfigFor('thief', ACCOUNT);
  const thief = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  try {
    const made = thief.create(NATS_CLUSTERS, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'NatsCluster',
      metadata: { namespace, name: 'mine' },
      spec: {},
    });
    await expect(made).rejects.toThrow('makes NatsClusters for Takeovers alone');
  } finally {
    await thief.close();
  }
});
