// Accounts that hold feeds and accounts that read them: what servers are told of them, and the
// Secrets of users who name none.
import { expect, test } from 'vitest';
import { natsConfig } from '../../../functions/nats-cluster/render/config.ts';
import { render } from '../../../functions/nats-cluster/render/manifests.ts';
import type { Account } from '../../../shared/api/nats-cluster.ts';
import { feedAccounts } from '../../../shared/nats/accounts.ts';
import { readerRights } from '../../../shared/nats/rights.ts';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { Run } from './model/run.ts';
import { NAMESPACE } from './model/cluster-model.ts';
import { CREDENTIALS, cluster } from './samples.ts';

const HOLDER: Account = {
  name: 'FEEDS',
  jetStream: true,
  feeds: ['f', 'g'],
  users: [{ name: 'metadata', writes: ['f', 'g'] }],
};
const READERS: Account = {
  name: 'READERS',
  jetStream: false,
  users: [
    { name: 'locate', reads: { feed: 'f', scope: 'Cluster' } },
    { name: 'agent', reads: { feed: 'f', scope: 'Node', node: 'n.1' } },
    { name: 'team', reads: { feed: 'g', scope: 'Namespaces', namespaces: ['web'] } },
  ],
};

function rendered(...accounts: readonly Account[]): Readonly<Record<string, unknown>> {
  const names = accounts.flatMap(({ users }) => users.map(({ name }) => name));
  const credentials = { ...CREDENTIALS, passwords: new Map(names.map((name) => [name, 'p'])) };
  const { accounts: all } = natsConfig(cluster({ spec: { accounts } }), credentials);
  const { SYS: _, ...rest } = all as Record<string, unknown>;
  return rest;
}

test('readers of a feed have the rights that everybody has who is set up by hand', () => {
  const login = (name: string) => ({ name, password: 'p' });
  const expected = feedAccounts({
    feeds: ['f', 'g'],
    writer: login('metadata'),
    readers: [
      { ...login('locate'), feeds: ['f'], scope: 'cluster' },
      { ...login('agent'), feeds: ['f'], scope: { node: 'n.1' } },
      { ...login('team'), feeds: ['g'], scope: { namespaces: ['web'] } },
    ],
  });
  expect(rendered(HOLDER, READERS)).toEqual(expected);
});

test('a reader may say nothing in the name of JetStream, and has an inbox of its own', () => {
  const { READERS: readers } = rendered(HOLDER, READERS);
  const [, agent] = (readers as { readonly users: readonly object[] }).users;
  const permissions = readerRights('f', { node: 'n.1' }, '_INBOX.agent');
  expect(agent).toEqual({ user: 'agent', password: 'p', permissions });
  expect(JSON.stringify(agent)).not.toContain('$JS');
});

test('an account gets what its users read, and no feed that nobody reads there', () => {
  const user = (name: string, feed: string) => ({
    name,
    reads: { feed, scope: 'Cluster' } as const,
  });
  const one: Account = { name: 'ONE', jetStream: false, users: [user('a', 'f')] };
  const two: Account = { name: 'TWO', jetStream: false, users: [user('b', 'f'), user('c', 'h')] };
  const more: Account = { name: 'MORE', jetStream: true, feeds: ['h'], users: [{ name: 'd' }] };
  const all = rendered(HOLDER, more, one, two);
  const told = (name: string): string => JSON.stringify(all[name]);
  expect(told('FEEDS')).toContain('"stream":"ballast-live.f.>","accounts":["ONE","TWO"]');
  expect(told('FEEDS')).not.toContain('"stream":"ballast-live.g.>"');
  expect(told('MORE')).toContain('"stream":"ballast-live.h.>","accounts":["TWO"]');
  expect(told('ONE')).not.toContain('ballast-live.h');
  expect(told('TWO')).toContain('"account":"MORE"');
});

test('a new account of readers restarts servers; more users and feeds of it do not', () => {
  const shape = { size: 3, accessMode: 'ReadWriteOncePod' } as const;
  const hash = (...accounts: readonly Account[]): string =>
    render(cluster({ spec: { accounts } }), CREDENTIALS, shape).templateHash;
  const [first] = READERS.users;
  const few = { ...READERS, users: first === undefined ? [] : [first] };
  expect(hash(HOLDER)).toBe(hash());
  expect(hash(HOLDER, few)).not.toBe(hash(HOLDER));
  expect(hash(HOLDER, READERS)).toBe(hash(HOLDER, few));
  expect(hash(HOLDER, few, { ...few, name: 'MORE' })).not.toBe(hash(HOLDER, few));
});

const secretOf = ({ model }: Run, suffix: string): Readonly<Record<string, string>> => {
  const data = model.kube.objects.get(`secrets/${NAMESPACE}/nats${suffix}`)?.['data'] ?? {};
  const text = (value: unknown): string => Buffer.from(String(value), 'base64').toString();
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, text(value)]));
};

async function withReaders(): Promise<Run> {
  const run = new Run();
  run.edit({ accounts: [HOLDER, READERS] });
  await run.converge();
  return run;
}

test('who names no Secret gets one, with a url that is taken as it is', async () => {
  const run = await withReaders();
  const { username, password = '', url } = secretOf(run, '-user-agent');
  expect([username, password]).toEqual(['agent', expect.stringMatching(/^[\w-]{32}$/)]);
  expect(url).toBe(`nats://agent:${password}@nats.${NAMESPACE}.svc:4222`);
  expect(secretOf(run, '-user-team')['password']).not.toBe(password);
  expect(secretOf(run, '-user')).toEqual({});
  expect(run.isReady()).toBe(true);
});

test('one who comes later is new, and nobody has lost a password', async () => {
  const run = await withReaders();
  const before = secretOf(run, '-user-agent');
  const late = { name: 'late', reads: { feed: 'f', scope: 'Cluster' } } as const;
  run.edit({ accounts: [HOLDER, { ...READERS, users: [...READERS.users, late] }] });
  await run.converge();
  expect(secretOf(run, '-user-late')['username']).toBe('late');
  expect(secretOf(run, '-user-agent')).toEqual(before);
  expect(run.warnings).toEqual([]);
});

test.each([false, true])(
  'a Secret that is deleted is back with its password (forgotten: %j)',
  async (isForgotten) => {
    const run = await withReaders();
    const before = secretOf(run, '-user-agent');
    run.model.kube.remove(SECRETS, { namespace: NAMESPACE, name: 'nats-user-agent' });
    if (isForgotten) run.forget();
    await run.sweep();
    expect(secretOf(run, '-user-agent')).toEqual(before);
    expect([run.isReady(), run.warnings]).toEqual([true, []]);
  },
);

test('a Secret of somebody else is not taken for the one of a user', async () => {
  const run = new Run();
  const metadata = { namespace: NAMESPACE, name: 'nats-user-agent' };
  const data = { password: Buffer.from('theirs').toString('base64') };
  run.model.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data });
  run.edit({ accounts: [HOLDER, READERS] });
  for (let sweeps = 0; sweeps < 12; sweeps += 1) await run.sweep();
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason: 'NameTaken' });
  expect(secretOf(run, '-user-agent')).toEqual({ password: 'theirs' });
});
