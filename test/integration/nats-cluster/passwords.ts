// The Secrets of a cluster, deleted and edited by hand, and accounts that are taken away, with real
// servers: the function finds its way back in, or says how, and no server is restarted.
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import type { RunningFunction } from '../../../shared/function/start.ts';
import { openReplica } from '../../../shared/nats/replica/replica.ts';
import { BUDGETS } from '../../../shared/stateful/parts.ts';
import { FeedWriter } from '../../builders/feed-writer.ts';
import { startRecordingListener } from '../../builders/recording-listener.ts';
import { sendEvent } from '../../builders/send-event.ts';
import { until } from '../../builders/versioned-kind.ts';
import { reported } from './report.ts';
import { hasty, isReady, SCENARIO_MS } from './scene.ts';
import { place } from './shared-place.ts';

let ours: RunningFunction;
let skippedMs = 0;
const later: Clock = { ...hasty, nowMs: () => systemClock.nowMs() + skippedMs };
const NAMESPACE = 'vault';
const cluster = { namespace: NAMESPACE, name: 'nats' };
const settings = { timeout: SCENARIO_MS };
const SECRETS = { group: '', version: 'v1', resource: 'secrets' };
const SYSTEM = { namespace: NAMESPACE, name: 'nats-system' };
const SERVICE = `nats.${NAMESPACE}.svc`;
/** Parts that were read are read anew. */
const FRESH_MS = 301_000;

beforeAll(async () => {
  await place.namespace(NAMESPACE);
  ours = await place.startFunction({ clock: later });
  await place.create(cluster, { lameDuck: { graceSeconds: 1 } });
  await place.wakeUntilReady(ours, cluster);
}, SCENARIO_MS);

afterAll(async () => {
  await place.remove(cluster);
  // It names Secrets as owners beside the NatsCluster, and goes with the last of them.
  await until('its budget to go', async () => (await budget()) === null);
}, SCENARIO_MS);

const system = () => place.secret(cluster, 'nats-system');
const digests = async () =>
  ((await place.status(cluster)).servers ?? []).map(({ configDigest = '' }) => configDigest);
const uids = async () => (await place.pods(cluster)).map(({ metadata }) => metadata.uid);

test('deleted, it comes back with what the servers have', settings, async () => {
  const [before, ran] = [await system(), await digests()];
  const uid = (await place.kube.get(SECRETS, SYSTEM))?.metadata.uid ?? '';
  await place.kube.delete(SECRETS, SYSTEM, { uid });
  skippedMs += FRESH_MS;
  const isBack = async () => 'password' in (await system());
  await place.wakeUntil(ours, cluster, 'it to come back', isBack);
  expect(await system()).toEqual(before);
  await place.wakeUntilReady(ours, cluster);
  expect(await digests()).toEqual(ran);
});

test('edited, its password comes to the servers by reloads', settings, async () => {
  const [before, ran, pods] = [await system(), await digests(), await uids()];
  const body = { stringData: { password: 'another one' } };
  await place.kube.patch(SECRETS, SYSTEM, { type: 'merge', body });
  skippedMs += FRESH_MS;
  await place.wakeUntil(ours, cluster, 'other digests', async (status, { metadata }) => {
    const now = await digests();
    return isReady(status, metadata) && now.every((one) => one !== '' && !ran.includes(one));
  });
  // Nobody asks with the former one any more.
  skippedMs += FRESH_MS;
  await place.tick(ours);
  expect(await system()).toEqual({ ...before, password: 'another one' });
  expect(await uids()).toEqual(pods);
});

const SERVERS = ['nats-0', 'nats-1', 'nats-2'];
const OURS = ['nats-user', 'nats-system', 'nats-config'];

async function remove(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const at = { namespace: NAMESPACE, name };
    const uid = (await place.kube.get(SECRETS, at))?.metadata.uid ?? '';
    await place.kube.delete(SECRETS, at, { uid });
  }
}

const BUDGET = { namespace: NAMESPACE, name: 'nats' };
const budget = async () => await place.kube.get(BUDGETS, BUDGET);
const namedSecrets = async () =>
  ((await budget())?.metadata.ownerReferences ?? [])
    .filter(({ kind }) => kind === 'Secret')
    .map(({ name }) => name)
    .toSorted();

test(
  'a Secret of a user that is deleted changes the budget, and is back with its password at once',
  settings,
  async () => {
    expect(await namedSecrets()).toEqual(['nats-config', 'nats-system', 'nats-user']);
    const before = await place.secret(cluster, 'nats-user');
    // An instance that remembers nothing: servers' configuration tells the password.
    const other = await place.startFunction({ clock: later });
    await remove('nats-user');
    await until('the garbage collector', async () => (await namedSecrets()).length === 2);
    const { metadata } = (await budget()) ?? {};
    const data = { kind: 'PodDisruptionBudget', metadata };
    const told = await sendEvent(other.port, 'dev.knative.apiserver.resource.update', data);
    expect(told.status).toBe(204);
    expect(await place.secret(cluster, 'nats-user')).toEqual(before);
    expect(await namedSecrets()).toEqual(['nats-config', 'nats-system', 'nats-user']);
  },
);

test(
  'all Secrets deleted at once are back with the next sweep, as they were',
  settings,
  async () => {
    const read = () => Promise.all(OURS.map((name) => place.secret(cluster, name)));
    const [before, ran] = [await read(), await digests()];
    await remove(...OURS);
    await place.tick(ours);
    expect(await read()).toEqual(before);
    await place.wakeUntilReady(ours, cluster);
    expect(await digests()).toEqual(ran);
  },
);

test(
  'an account that has a stream is not taken away, and nothing is rolled',
  settings,
  async () => {
    await place.putSecret(cluster, 'passwords', { shop: 'one' });
    const traffic = await place.startTraffic(cluster, { stream: 'ORDERS' });
    await place.wakeUntilReady(ours, cluster);
    const [ran, pods] = [await digests(), await uids()];
    const passwordSecret = { name: 'passwords', key: 'shop' };
    await place.edit(cluster, {
      accounts: [{ name: 'SHOP', users: [{ name: 'a', passwordSecret }] }],
    });
    await place.wakeUntil(ours, cluster, 'a refusal', async () =>
      (await place.condition(cluster, 'Degraded')).startsWith('True AccountInUse'),
    );
    expect(await place.condition(cluster, 'Degraded')).toContain('ORDERS of DEFAULT');
    expect(await place.events(cluster)).toContainEqual(expect.stringMatching(/^AccountInUse: /));
    expect(await digests()).toEqual(ran);
    await place.edit(cluster, { accounts: null });
    await place.wakeUntilReady(ours, cluster);
    expect(await uids()).toEqual(pods);
    reported('an account with a stream that was to go', await traffic.stop());
  },
);

/** A user's connection to the first server. */
async function urlIn(secret: string): Promise<string> {
  const [address = ''] = await place.addresses(cluster);
  const { username = '', password = '' } = await place.secret(cluster, secret);
  return `nats://${username}:${password}@${address}`;
}

test('the stream of a feed gets readers in an account of their own', settings, async () => {
  const pods = await uids();
  const writer = await FeedWriter.open(await urlIn('nats-user'), 'cluster');
  await writer.begin();
  await writer.put({ node: 'n1' }, { resource: 'pods', namespace: 'web', name: 'a' });
  // As docs/upgrade.md says it for an installation of before.
  const everything = { name: 'default', passwordSecret: { name: 'nats-user' } };
  const reads = { feed: 'cluster', scope: 'Node', node: 'n1' };
  await place.edit(cluster, {
    accounts: [
      {
        name: 'DEFAULT',
        feeds: ['cluster'],
        users: [everything, { name: 'metadata', writes: ['cluster'] }],
      },
      { name: 'READERS', jetStream: false, users: [{ name: 'agent', reads }] },
    ],
  });
  await place.wakeUntilReady(ours, cluster);
  const url = await urlIn('nats-user-agent');
  const reader = openReplica({ url, feed: 'cluster', scope: { node: 'n1' } });
  await reader.whenCurrent();
  expect([...reader.catalog.entries()].map(({ key }) => key.name)).toEqual(['a']);
  // A server that only reloaded would let nobody through.
  expect((await uids()).filter((uid) => pods.includes(uid))).toEqual([]);
  await Promise.all([reader.close(), writer.close()]);
});

/** How clients that copied `ca.crt` then find the first server. */
async function shownTo(ca: string): Promise<string> {
  const [address = ''] = await place.addresses(cluster);
  const [host = '', port] = address.split(':');
  const socket = connectTcp(Number(port), host);
  // It speaks first, in the clear.
  await once(socket, 'data');
  const secure = connectTls({ socket, servername: SERVICE, ca });
  try {
    await once(secure, 'secureConnect');
    return secure.getPeerCertificate().fingerprint256;
  } finally {
    secure.destroy();
  }
}

test(
  'while TLS is turned on and off, and nats-tls deleted, all who believed get in',
  settings,
  async () => {
    const pods = await uids();
    const tls = () => place.secret(cluster, 'nats-tls');
    await place.edit(cluster, { tls: { clients: {} } });
    await place.wakeUntilReady(ours, cluster);
    const first = await tls();
    const { 'ca.crt': copied = '' } = first;
    const shown = await shownTo(copied);
    await remove('nats-tls');
    await place.wakeUntilReady(ours, cluster);
    expect(await tls()).toEqual(first);
    // Nobody knows the key of a server that was started since then.
    const other = await place.startFunction({ clock: later });
    await remove('nats-tls');
    await place.wakeUntil(other, cluster, 'the authority to be planned', async (status, object) => {
      return isReady(status, object.metadata) && 'next-ca.crt' in (await tls());
    });
    const after = await tls();
    expect(after['ca.crt']).toBe(`${copied}${after['next-ca.crt']}`);
    expect(after).not.toHaveProperty('ca.key');
    expect(await shownTo(copied)).toBe(shown);
    expect(await shownTo(after['ca.crt'] ?? '')).toBe(shown);
    expect(await place.condition(cluster, 'Ready')).toMatch(/ another authority signs for its /);
    expect(await place.events(cluster)).toContainEqual(expect.stringMatching(/^AuthorityLost: /));
    await place.edit(cluster, { tls: null });
    await place.wakeUntilReady(ours, cluster);
    expect(await uids()).toEqual(pods);
  },
);

test(
  'who listens where servers were hears no password, in clear text or with another certificate',
  settings,
  async () => {
    await place.edit(cluster, { tls: { clients: {} } });
    await place.wakeUntilReady(ours, cluster);
    expect((await system())['pods-before-tls']).toBe('[]');
    const addresses = await place.addresses(cluster);
    await Promise.all(SERVERS.map((server) => place.hold(cluster, server)));
    await using stack = new AsyncDisposableStack();
    // Otherwise a failure here would be one of the next test as well.
    stack.defer(() => {
      for (const server of SERVERS) place.release(cluster, server);
    });
    const [plain, , stranger] = addresses.map((one) => one.replace(/:.*/, ''));
    const name = { certificateFor: SERVICE };
    const listeners = [
      stack.use(await startRecordingListener({ host: plain ?? '' })),
      stack.use(await startRecordingListener({ host: stranger ?? '', ...name })),
    ];
    // A process that starts now remembers nothing, and the status says nothing of this spec yet.
    const other = await place.startFunction({ clock: later });
    await place.edit(cluster, { unreplicatedStreams: 'Wait' });
    const tickBoth = () => Promise.all([place.tick(ours), place.tick(other)]);
    await tickBoth();
    await until('both to be asked', async () => {
      await tickBoth();
      return listeners.every((one) => one.connections() > 0);
    });
    expect(listeners.map((one) => one.heard()).join('')).not.toMatch(/CONNECT|pass/);
    await stack.disposeAsync();
    await place.wakeUntilReady(ours, cluster);
    await place.edit(cluster, { tls: null });
    await place.wakeUntilReady(ours, cluster);
  },
);

test(
  'what nobody remembers is told with the command that helps, which does',
  settings,
  async () => {
    const [before, pods] = [await system(), await uids()];
    const other = await place.startFunction({ clock: later });
    await remove('nats-system', 'nats-config');
    await place.wakeUntil(other, cluster, 'the way out', async () =>
      (await place.condition(cluster, 'Degraded')).startsWith('True PasswordRefused'),
    );
    expect((await system())['password']).not.toBe(before['password']);
    const said = await place.condition(cluster, 'Degraded');
    const command = /-- (nats-server .*); done$/.exec(said)?.[1] ?? '';
    expect(command).not.toBe('');
    // Here servers have the password of the routes from their command line too, where no file
    // changes it: they let us in, and do not find each other any more.
    await place.wakeUntil(other, cluster, 'a way in', async () => {
      for (const server of SERVERS) await place.exec(cluster, server, command.split(' '));
      return !(await place.condition(cluster, 'Degraded')).includes('PasswordRefused');
    });
    expect(await uids()).toEqual(pods);
  },
);
