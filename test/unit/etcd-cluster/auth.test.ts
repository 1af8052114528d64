// Logins when somebody else has a hand in them: who makes users of our names, changes Secrets, or
// loses them; and what is told of it.
import { expect, test } from 'vitest';
import { readAuth, refusedCertificate } from '../../../functions/etcd-cluster/auth/secrets.ts';
import type { AuthSeen } from '../../../functions/etcd-cluster/auth/state.ts';
import type { EtcdState } from '../../../functions/etcd-cluster/etcd-state.ts';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { KubeModel } from '../stateful/kube-model.ts';
import { NAMESPACE } from './model/etcd-model.ts';
import { give, givenTo, ONE, passwordIn, prepared, role, sweeps, user } from './model/logins.ts';
import type { Edit, Run } from './model/run.ts';
import { type Row, shown } from './rows.ts';
import { type Differences, noQuorum, silent, state } from './samples.ts';

const SINGLE: Edit = { replicas: 1 };
const etcdWrites = (run: Run, from: number): readonly string[] =>
  run.writes.slice(from).filter((one) => one.startsWith('etcd'));

const remove = ({ model }: Run, name: string): void =>
  model.kube.remove(SECRETS, { namespace: NAMESPACE, name });

test('a user that somebody made keeps logins off, and is told and left alone', async () => {
  const run = await prepared([SINGLE]);
  run.model.auth.add('mallory', 'known');
  run.model.auth.foreign.add('mallory');
  run.edit(ONE);
  await sweeps(run, 40);
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason: 'ForeignUser' });
  expect(run.condition('Degraded').message).toContain('mallory');
  expect(run.model.auth.isEnabled).toBe(false);
  run.model.auth.users.delete('mallory');
  run.model.auth.revision += 1;
  await run.converge();
  expect(run.model.auth.isEnabled).toBe(true);
});

test.each<[string, string | undefined]>([
  ['a password that he knows', 'known'],
  ['no password, so that a certificate is enough', undefined],
])('a user of our name that somebody made with %s is made anew', async (_, password) => {
  const run = await prepared([SINGLE]);
  const { auth } = run.model;
  auth.add('orders', password);
  auth.change('orders', (one) => ({ ...one, roles: ['root'] }));
  run.edit(ONE);
  await run.converge();
  expect(auth.users.get('orders')).toEqual({ password: 'of-before', roles: ['orders'] });
});

test.each<[string, string | undefined]>([
  ['his password', 'known'],
  ['none', undefined],
])('a user that somebody gave %s right before logins were on has ours after', async (_, his) => {
  const run = await prepared([SINGLE]);
  const { auth } = run.model;
  const enable = auth.enable.bind(auth);
  auth.enable = (password) => {
    auth.users.set('orders', { password: his, roles: ['orders'] });
    enable(password);
  };
  run.edit(ONE);
  await run.converge();
  expect(auth.users.get('orders')).toEqual({ password: 'of-before', roles: ['orders'] });
});

test('another password in a Secret becomes that of its user, who keeps his roles', async () => {
  const before = await prepared([SINGLE, ONE]);
  give(before, 'of-after');
  const run = before.copy();
  const from = run.writes.length;
  await sweeps(run);
  expect(etcdWrites(run, from)).toEqual(['etcd password of orders']);
  expect(run.model.auth.users.get('orders')).toEqual({ password: 'of-after', roles: ['orders'] });
  const told = [...run.model.kube.objects].filter(([key]) => !key.startsWith('secrets/'));
  expect(JSON.stringify(told)).not.toMatch(/of-before|of-after/);
});

test.each<[string, Edit, string | undefined, string]>([
  ['has no password', ONE, '', 'PasswordMissing'],
  ['has one that etcd does not take', ONE, 'x'.repeat(73), 'PasswordUnfit'],
  [
    'is somebody else’s',
    { auth: { users: [user('made')], roles: [role('orders')] } },
    undefined,
    'NameTaken',
  ],
])('with a Secret that %s nothing is turned on, and the rest goes on', async (_, edit, ...rest) => {
  const [password, reason] = rest;
  const run = await prepared([SINGLE]);
  give(run, password ?? 'theirs', password === undefined ? 'etcd-user-made' : undefined);
  run.edit({ ...edit, replicas: 3 });
  await sweeps(run, 40);
  expect(run.condition('Degraded')).toMatchObject({ status: 'True', reason });
  expect(run.model.auth.users.size).toBe(0);
  expect(run.model.voters).toHaveLength(3);
});

test('the Secret of root comes back as it was from whoever remembers it', async () => {
  const run = await prepared([SINGLE, ONE]);
  const password = passwordIn(run, 'etcd-root');
  remove(run, 'etcd-root');
  run.edit({ auth: { users: [givenTo('orders'), user('made')] } });
  await run.converge();
  expect(passwordIn(run, 'etcd-root')).toBe(password);
});

test('without the Secret of root nothing is guessed, and it is told', async () => {
  const before = await prepared([SINGLE, ONE]);
  remove(before, 'etcd-root');
  const run = before.copy();
  const from = run.writes.length;
  await sweeps(run);
  expect(run.condition('Degraded').reason).toBe('RootPasswordLost');
  expect([etcdWrites(run, from), passwordIn(run, 'etcd-root')]).toEqual([[], undefined]);
});

test('with another password of root it is told that members refuse it', async () => {
  const run = await prepared([SINGLE, ONE]);
  run.model.auth.change('root', (one) => ({ ...one, password: 'other' }));
  await sweeps(run);
  expect(run.condition('Degraded').reason).toBe('LoginRefused');
});

test('made again without auth it opens its data to nobody', async () => {
  const run = await prepared([SINGLE, ONE]);
  run.deleteCluster();
  await sweeps(run, 5);
  run.makeCluster();
  await sweeps(run, 60);
  expect(run.condition('Degraded').reason).toBe('AuthLeftOn');
  expect(run.model.auth.isEnabled).toBe(true);
  const from = run.writes.length;
  run.edit(ONE);
  await run.converge();
  expect(etcdWrites(run, from).filter((one) => one.includes('user'))).toEqual([]);
});

const RECORD = { phase: 'On', rootSecret: 'etcd-root' } as const;
const SEEN: AuthSeen = {
  isEnabled: true,
  revision: '9',
  users: new Map([
    ['root', ['root']],
    ['gone', []],
  ]),
  roles: new Map(),
  logins: new Map(),
};
const AUTH = {
  root: { user: 'root', password: 'p' },
  passwords: new Map<string, string>(),
  lacking: undefined,
};

const seen =
  (more: Partial<EtcdState>): NonNullable<Differences['etcd']> =>
  (etcd) => ({ ...etcd, ...more });
const GONE = { name: 'gone', login: 'Password' } as const;

const ROWS: readonly Row[] = [
  [
    'one that was made for the spec goes with it',
    {
      spec: { auth: {} },
      status: { auth: { ...RECORD, users: [{ ...GONE, madeAs: 'x' }] } },
      parts: { auth: AUTH },
      etcd: seen({ auth: SEEN }),
    },
    'change-auth: Remove user gone',
  ],
  [
    'one that may be somebody else’s is forgotten, and stays',
    {
      spec: { auth: {} },
      status: { auth: { ...RECORD, users: [GONE] } },
      parts: { auth: AUTH },
      etcd: seen({ auth: SEEN }),
    },
    'write-records: Remove user gone',
  ],
  [
    'without a quorum nothing is changed',
    {
      spec: { auth: {} },
      status: { auth: { ...RECORD, users: [{ ...GONE, madeAs: 'x' }] } },
      parts: { auth: AUTH },
      etcd: (etcd) => ({ ...noQuorum(etcd, state().cluster), auth: SEEN }),
    },
    'wait: Nothing [NoQuorum]',
  ],
  [
    'users that members do not tell are waited for, and nothing is made meanwhile',
    {
      spec: { auth: {} },
      status: { auth: RECORD },
      parts: { auth: AUTH },
      etcd: seen({ authSilence: 'took too long' }),
    },
    'wait: Bring users and roles to what the spec says [UsersUnknown]',
  ],
  [
    'a login that members refuse is told before anything else is tried',
    { spec: { auth: {}, replicas: 5 }, ordinals: [0, 1, 2], etcd: seen({ refused: 'NO_LOGIN' }) },
    'wait: Look at the members [LoginRefused] !LoginRefused',
  ],
  [
    'logins wait for a restart that is under way, and are off until then',
    {
      spec: { auth: {} },
      status: {
        restarting: { peer: 'etcd-1', podUid: 'other', reason: '', since: '2026-01-01T00:00:00Z' },
      },
      parts: { auth: AUTH },
      etcd: (etcd) => ({ ...silent('etcd-1')(etcd, state().cluster), auth: SEEN }),
    },
    'wait: Restart etcd-1 [MemberSilent] !RolloutPaused',
  ],
];

test.each(ROWS)('%s', (_, observed, decision) => {
  expect(shown(state(observed))).toBe(decision);
});

const reader = (kube: KubeModel) => ({
  kube: kube.client,
  nowMs: 0,
  signal: new AbortController().signal,
});

test('with a certificate that has a common name logins stay off, or as they are', async () => {
  const { cluster } = state({ spec: { auth: {} }, status: { auth: RECORD } });
  const { toMake } = await readAuth(
    reader(new KubeModel()),
    state({ spec: { auth: {} } }).cluster,
    'x',
  );
  expect(toMake?.manifest).toMatchObject({ immutable: true, metadata: { name: 'etcd-root' } });
  const kube = new KubeModel();
  kube.put(SECRETS, toMake?.manifest ?? { apiVersion: '', kind: '', metadata: { name: '' } });
  const { auth } = await readAuth(reader(kube), cluster, 'etcd.shop');
  expect(auth?.lacking?.reason).toBe('CertificateNamed');
  expect(refusedCertificate(cluster, 'etcd.shop')?.reason).toBe('CertificateNamed');
  expect(refusedCertificate(cluster, undefined)).toBeUndefined();
  expect(refusedCertificate(state({ spec: { auth: {} } }).cluster, 'etcd.shop')).toBeUndefined();
});
