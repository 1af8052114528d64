// For each field of an EtcdCluster: an edit of it, from which cluster it is made, and by what one
// sees that it is carried out; or that the API server refuses every edit of it.
import { dataOf } from '../../../../shared/stateful/certificates/secret-data.ts';
import { SECRETS } from '../../../../shared/stateful/parts.ts';
import { makeAuthority } from '../../../../shared/x509.ts';
import { NAME, NAMESPACE } from './etcd-model.ts';
import { give, givenTo, ONE, prepared, role, user } from './logins.ts';
import { type Edit, Run } from './run.ts';
import { freeUp } from './upkeep-model.ts';

export interface Edited {
  /** The cluster before the edit, which is copied. */
  readonly from: () => Promise<Run>;
  readonly edit: Edit;
  readonly isDone: (run: Run, writes: readonly string[]) => boolean;
  /** Each member gets another pod. */
  readonly restarts?: boolean;
}

const once = (make: () => Promise<Run>): (() => Promise<Run>) => {
  let made: Promise<Run> | undefined;
  return () => (made ??= make());
};

const three = once(async () => {
  const run = new Run();
  run.edit({ storage: { storageClassName: 'standard' } });
  return converged(run);
});
const withTls = once(async () => {
  const run = new Run();
  run.edit({ tls: { clients: { mode: 'Mutual' }, peers: { mode: 'Mutual' } } });
  await converged(run);
  for (const use of ['clients', 'peers']) giveOwn(run, use);
  return run;
});
/** It is defragmented at once. */
export const mostlyFree = once(async () => {
  const run = (await three()).copy();
  freeUp(run.model);
  return run;
});
const withLogins = once(async () => {
  const run = await prepared([{ replicas: 1 }, ONE]);
  give(run, 'of-another', 'other');
  return run;
});

async function converged(run: Run): Promise<Run> {
  await run.converge();
  return run;
}

/** A Secret of the user's: what members show now, and one more authority to trust. */
function giveOwn({ model }: Run, use: string): void {
  const tls = model.kube.objects.get(`secrets/${NAMESPACE}/${NAME}-tls`);
  const served = tls === undefined ? {} : dataOf(tls);
  const { nowMs } = model;
  const validity = { fromMs: nowMs - 3_600_000, toMs: nowMs + 86_400_000 };
  const { certPem } = makeAuthority('mine', validity);
  const encode = (text = ''): string => Buffer.from(text).toString('base64');
  const data = {
    'tls.crt': encode(served[`${use}.crt`]),
    'tls.key': encode(served[`${use}.key`]),
    'ca.crt': encode(`${served[`${use}-ca.crt`] ?? ''}${certPem}`),
  };
  const metadata = { namespace: NAMESPACE, name: `my-${use}` };
  model.kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data });
}

const restarts = (edit: Edit, from = three): Edited => ({
  from,
  edit,
  isDone: (run) => run.isReady(),
  restarts: true,
});

const writes = (edit: Edit, write: string, from = three): Edited => ({
  from,
  edit,
  isDone: (_, written) => written.includes(write),
});

const tells = (edit: Edit, type: string, reason: string): Edited => ({
  from: three,
  edit,
  isDone: (run) => run.condition(type).reason === reason,
});

/** Without the edit it would have been. */
const isLeftAlone = (edit: Edit): Edited => ({
  from: mostlyFree,
  edit,
  isDone: (run, written) => run.isReady() && !written.includes('etcd defragment'),
});

const logins = (users: readonly object[], roles: readonly object[], write: string): Edited =>
  writes({ auth: { users, roles } }, write, withLogins);

const ORDERS = role('orders');
const permits = (more: object) => [
  { ...ORDERS, permissions: [{ ...ORDERS.permissions[0], ...more }] },
];
const resources = (kind: string, resource: string): Edited =>
  restarts({ resources: { [kind]: { [resource]: '1' } } });

export const FIELDS: Readonly<Record<string, Edited | 'refused'>> = {
  replicas: writes({ replicas: 5 }, 'etcd promote'),
  image: restarts({ image: 'quay.io/coreos/etcd:v3.6.17' }),
  'storage.medium': 'refused',
  'storage.size': writes({ storage: { size: '20Gi' } }, 'patch persistentvolumeclaims data-etcd-2'),
  'storage.storageClassName': 'refused',
  'storage.accessMode': 'refused',
  'tls.clients.mode': 'refused',
  'tls.clients.secretName': restarts({ tls: { clients: { secretName: 'my-clients' } } }, withTls),
  'tls.peers.mode': 'refused',
  'tls.peers.secretName': restarts({ tls: { peers: { secretName: 'my-peers' } } }, withTls),
  quota: restarts({ quota: '4Gi' }),
  'compaction.mode': restarts({ compaction: { mode: 'None', retention: undefined } }),
  'compaction.retention': restarts({ compaction: { retention: '8h' } }),
  heartbeatMilliseconds: restarts({ heartbeatMilliseconds: 50 }),
  electionMilliseconds: restarts({ electionMilliseconds: 2_000 }),
  snapshotCount: restarts({ snapshotCount: 20_000 }),
  'resources.requests.cpu': resources('requests', 'cpu'),
  'resources.requests.memory': resources('requests', 'memory'),
  'resources.limits.cpu': resources('limits', 'cpu'),
  'resources.limits.memory': resources('limits', 'memory'),
  spread: restarts({ spread: 'Required' }),
  'auth.users[].name': logins([givenTo('audit')], [ORDERS], 'etcd add user audit'),
  'auth.users[].login': logins(
    [user('orders', { login: 'Certificate' })],
    [ORDERS],
    'etcd add user orders',
  ),
  'auth.users[].passwordSecret.name': logins(
    [user('orders', { passwordSecret: { name: 'other', key: 'password' } })],
    [ORDERS],
    'etcd password of orders',
  ),
  'auth.users[].passwordSecret.key': {
    ...logins([user('orders', { passwordSecret: { name: 'given', key: 'none' } })], [ORDERS], ''),
    isDone: (run) => run.condition('Degraded').reason === 'PasswordMissing',
  },
  'auth.users[].roles[]': logins(
    [givenTo('orders', { roles: ['log'] })],
    [ORDERS, role('log')],
    'etcd give orders log',
  ),
  'auth.roles[].name': logins([givenTo('orders')], [ORDERS, role('log')], 'etcd add role log'),
  'auth.roles[].permissions[].prefix': logins(
    [givenTo('orders')],
    permits({ prefix: '/other/' }),
    'etcd grant orders',
  ),
  'auth.roles[].permissions[].access': logins(
    [givenTo('orders')],
    permits({ access: 'ReadWrite' }),
    'etcd grant orders',
  ),
  networkPolicy: writes({ networkPolicy: 'Closed' }, 'apply networkpolicies etcd'),
  'defragmentation.mode': isLeftAlone({ defragmentation: { mode: 'None' } }),
  'defragmentation.window': isLeftAlone({ defragmentation: { window: '04:00-05:00' } }),
  paused: tells({ paused: true }, 'Ready', 'Paused'),
  'recovery.confirm': tells(
    { recovery: { confirm: 'etcd-0-000000000000' } },
    'Degraded',
    'RecoveryRefused',
  ),
};
