// A quorum that is lost for good, on real etcds: it waits, says what could be done, and goes on
// with the surviving member once a person has confirmed it.
import { afterAll, expect, test } from 'vitest';
import type { EtcdClusterStatus } from '../../../shared/api/etcd-cluster.ts';
import type { EtcdAdmin } from '../../../shared/etcd/admin.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { type Named, SCENARIO_MS, SECRETS } from './etcd-scene.ts';
import { place } from './shared-place.ts';

const MARK = 'ballast.dev/etcd-cluster-id';
const STATEFUL_SETS = { group: 'apps', version: 'v1', resource: 'statefulsets' } as const;
const cluster: Named = { namespace: 'recovered', name: 'etcd' };

afterAll(() => place.endAll());

async function write(key: string): Promise<void> {
  const client = await place.client(cluster);
  try {
    await client.keys.put(key, `value of ${key}`);
  } finally {
    await client.close();
  }
}

async function read(key: string): Promise<string | undefined> {
  const client = await place.client(cluster);
  try {
    return (await client.keys.get(key)).found?.value.toString();
  } finally {
    await client.close();
  }
}

async function claim(name: string): Promise<KubeObject> {
  const found = (await place.claims(cluster)).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

const idsOf = ({ members = [] }: EtcdClusterStatus): readonly (string | undefined)[] =>
  members.map(({ id }) => id);

async function loseQuorum(of = cluster): Promise<EtcdClusterStatus> {
  await place.loseClaim(of, 'data-etcd-1');
  await place.loseVolume(of, 'etcd-2');
  await place.wakeUntil(of, 'a plan', async ({ recovery }) => {
    const degraded = await place.condition(of, 'Degraded');
    return recovery !== undefined && degraded.startsWith('True QuorumLost');
  });
  return place.status(of);
}

const LIFE_MS = 2 * SCENARIO_MS;
const KEYS = ['a', 'b', 'c'];
const confirm = (id: string) => place.edit(cluster, { recovery: { confirm: id } });

test(
  'two of three volumes lost: it waits, and says what could be done',
  async () => {
    await place.namespace(cluster.namespace);
    await place.create(cluster, {});
    await place.wakeUntilReady(cluster);
    for (const key of KEYS) await write(key);
    const { recovery, quorumLostSince } = await loseQuorum();
    expect(quorumLostSince).toBeDefined();
    expect(recovery).toMatchObject({
      survivor: 'etcd-0',
      lost: ['etcd-1', 'etcd-2'],
      others: [],
      revision: '4',
    });
    const { id = '', command = '' } = recovery ?? {};
    expect(command).toContain(`{"spec":{"recovery":{"confirm":"${id}"}}}`);
    expect(await place.condition(cluster, 'Degraded')).toContain(command);
    await expect(confirm('yes')).rejects.toThrow('Write the id of the plan');
    await expect(confirm('other-0-0123456789ab')).rejects.toThrow('not the id of a plan');
  },
  LIFE_MS,
);

test(
  'confirmed, it goes on with the survivor, and keeps the claim that is left',
  async () => {
    const before = await place.status(cluster);
    const { uid: keptUid } = (await claim('data-etcd-2')).metadata;
    const { id = '' } = before.recovery ?? {};
    await confirm(id);
    await place.wakeUntilReady(cluster);
    const after = await place.status(cluster);
    expect(after).toMatchObject({
      clusterId: before.clusterId,
      voters: '3/3',
      recovered: { id, number: 1, survivor: 'etcd-0', revision: '4' },
    });
    const [survivor] = idsOf(before);
    expect(idsOf(after).filter((one) => idsOf(before).includes(one))).toEqual([survivor]);
    for (const key of KEYS) expect(await read(key)).toBe(`value of ${key}`);
    const { uid, annotations } = (await claim('data-etcd-2')).metadata;
    expect({ uid, mark: annotations?.[MARK] }).toEqual({
      uid: keptUid,
      mark: `removed-from-${before.clusterId}`,
    });
  },
  LIFE_MS,
);

test(
  'the survivor restarts as one of three, and another confirmation is refused',
  async () => {
    const after = await place.status(cluster);
    await write('d');
    const ended = await place.deletePod(cluster, 'etcd-0-0');
    await place.wakeUntil(cluster, 'another pod', async () => {
      const pods = await place.podUids(cluster);
      return pods.length === 3 && !pods.includes(ended);
    });
    await place.wakeUntilReady(cluster);
    expect(idsOf(await place.status(cluster))).toEqual(idsOf(after));
    expect(await read('d')).toBe('value of d');
    const { namespace } = cluster;
    const { items: sets } = await place.kube.list(STATEFUL_SETS, { namespace });
    expect(JSON.stringify(sets)).not.toContain('--force-new-cluster');
    await confirm('etcd-0-0123456789ab');
    await place.wakeUntil(cluster, 'a refusal', async () =>
      (await place.condition(cluster, 'Degraded')).startsWith('True RecoveryRefused'),
    );
    expect(idsOf(await place.status(cluster))).toEqual(idsOf(after));
  },
  LIFE_MS,
);

const guarded: Named = { namespace: 'guarded', name: 'etcd' };

async function passwordOf(user: string): Promise<string> {
  const name = user === 'root' ? 'etcd-root' : `etcd-user-${user}`;
  const secret = await place.kube.get(SECRETS, { namespace: guarded.namespace, name });
  const { password = '' } = Object(secret?.['data']) as { readonly password?: string };
  return Buffer.from(password, 'base64').toString();
}

async function as<Told>(user: string, ask: (admin: EtcdAdmin) => Promise<Told>): Promise<Told> {
  const login = user === '' ? undefined : { user, password: await passwordOf(user) };
  const admin = await place.client(guarded, login);
  try {
    return await ask(admin);
  } finally {
    await admin.close();
  }
}

test(
  'where etcd asks for logins a lost quorum is recovered, too, and it asks for them afterwards',
  async () => {
    await place.endAll();
    await place.namespace(guarded.namespace);
    const permissions = [{ prefix: '/orders/', access: 'ReadWrite' }];
    const auth = {
      users: [{ name: 'orders', roles: ['orders'] }],
      roles: [{ name: 'orders', permissions }],
    };
    await place.create(guarded, { auth });
    await place.wakeUntilReady(guarded);
    await as('orders', (admin) => admin.keys.put('/orders/1', 'paid'));
    const { recovery } = await loseQuorum(guarded);
    const { id = '' } = recovery ?? {};
    await place.edit(guarded, { recovery: { confirm: id } });
    await place.wakeUntilReady(guarded);
    const status = await place.status(guarded);
    expect(status).toMatchObject({ voters: '3/3', recovered: { id }, auth: { phase: 'On' } });
    const readOrder = (admin: EtcdAdmin) => admin.keys.get('/orders/1');
    const { found } = await as('orders', readOrder);
    expect(found?.value.toString()).toBe('paid');
    await expect(as('', readOrder)).rejects.toMatchObject({ reason: 'NO_LOGIN' });
    const putOther = as('orders', (admin) => admin.keys.put('/other', 'x'));
    await expect(putOther).rejects.toMatchObject({ reason: 'PERMISSION_DENIED' });
    expect(await as('root', (admin) => admin.users.list())).toEqual(['orders', 'root']);
  },
  LIFE_MS,
);
