// A confirmed plan of a NatsCluster is carried out or rolled back, with the process dying at each
// single write of it, before and after the write is done, and with old reads. The world throws when
// clients that are connected do not hear each other, or cannot connect.
import { describe, expect, test } from 'vitest';
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import { LEGACY_NATS } from '../../../shared/api/takeover.ts';
import { PODS, SECRETS, SERVICES } from '../../../shared/stateful/parts.ts';
import {
  backAt,
  backJustBefore,
  changesOf,
  expectConverged,
  expectSteps,
  onceAt,
  operatorAppears,
  testLives,
  usualLives,
} from './lives.ts';
import { NatsCarrying } from './nats-carrying.ts';
import { isNew } from './nats-others.ts';
import { putConfig, USERS } from './nats-world.ts';
import { configText } from '../../builders/legacy-nats.ts';
import { at } from './others-at-work.ts';
import { namesOf, objectIn, ownersIn, replicasOf, specIn } from './takeover-run.ts';
import { DEPLOYMENTS, forbid, namespace } from './world.ts';

const STEPS = [
  'StopOperator',
  'MakeCluster',
  'JoinRoutes',
  'SwitchService',
  'MoveClients',
  'LeaveRoutes',
  'DeleteLegacy',
];
const NEW_PODS = ['new-0', 'new-1', 'new-2'];
const OLD_PODS = ['old-1', 'old-2', 'old-3'];
const KEPT = NEW_PODS.map((name) => `data-${name}`);

const selectorIn = (run: NatsCarrying): object => specIn(run, 'services/old').selector;

function expectDone(run: NatsCarrying): void {
  expectSteps(run, STEPS);
  run.tick();
  expect(namesOf(run, 'natsclusters')).toEqual(['new']);
  expect(specIn(run, 'natsclusters/new')).not.toHaveProperty('extraRoutes');
  expect(namesOf(run, 'services')).toEqual(['new', 'new-headless', 'old']);
  expect(ownersIn(run, 'services/old')).toEqual([]);
  expect(namesOf(run, 'pods')).toEqual(NEW_PODS);
  expect(namesOf(run, 'secrets')).toEqual(['new-users']);
  expect([...run.clients.values()].every((pod) => isNew(pod))).toBe(true);
}

function expectRolledBack(run: NatsCarrying): void {
  expect(run.status.phase).toBe('RolledBack');
  expect(replicasOf(run, 'nats-operator')).toBe(1);
  run.tick();
  expect(namesOf(run, 'natsclusters')).toEqual(['old']);
  expect(namesOf(run, 'pods')).toEqual(OLD_PODS);
  expect(namesOf(run, 'secrets')).toEqual(['old']);
  expect(namesOf(run, 'services')).toEqual(['old', 'old-mgmt']);
  expect(selectorIn(run)).toEqual({ app: 'nats', nats_cluster: 'old' });
  expect(ownersIn(run, 'services/old')).toEqual([
    expect.objectContaining({ kind: 'NatsCluster', name: 'old' }),
  ]);
  const claims = namesOf(run, 'persistentvolumeclaims');
  expect([[], KEPT]).toContainEqual(claims);
}

test('it is carried out step by step, and each rests on what is written down', async () => {
  const run = await NatsCarrying.confirmed();
  expect(await changesOf(run)).toEqual([
    'patch deployments nats-operator',
    'create natsclusters new',
    'create secrets new-users',
    'patch natsclusters new',
    'patch services old',
    'delete pods old-1',
    'delete pods old-2',
    'delete pods old-3',
    'patch natsclusters new',
    'delete natsclusters old',
  ]);
  expectDone(run);
  expect(run.condition('Complete')).toBe('True TakenOver');
  const { stringData } = Object(objectIn(run, 'secrets/new-users'));
  expect(stringData).toEqual({ web: USERS.users[0]?.password });
  expect(JSON.stringify(run.status)).not.toContain(USERS.users[0]?.password);
});

testLives(
  () => NatsCarrying.confirmed(),
  usualLives(STEPS, 'MoveClients', { expectDone, expectRolledBack }),
);

test('a client that never comes back holds up nobody for longer than a minute', async () => {
  const run = await NatsCarrying.confirmed();
  let waited = 0;
  run.befalls = ({ gone, status, ms }) => {
    const { moving } = status.work ?? {};
    if (moving?.pod !== 'old-1') return;
    gone.add(0);
    waited = ms - Date.parse(moving.since);
  };
  await expectConverged(run);
  expect(waited).toBeGreaterThan(50_000);
  expect(waited).toBeLessThan(75_000);
  expect(run.status.phase).toBe('Done');
});

describe('where none of the clients of the first server comes back', () => {
  const stopped = async (): Promise<NatsCarrying> => {
    const run = await NatsCarrying.confirmed();
    run.befalls = ({ gone, clients, status }) => {
      if (status.work?.moving?.pod !== 'old-1') return;
      for (const [client, pod] of clients) if (pod === 'old-1') gone.add(client);
    };
    expect(await run.converge(60)).toBe(false);
    expect(run.condition()).toBe('True ClientsAway');
    expect(run.advice()).toMatch(/yourself: kubectl -n shop delete pod old-2$/);
    expect([...run.gone]).not.toEqual([]);
    expect(namesOf(run, 'pods')).toEqual([...NEW_PODS, 'old-2', 'old-3']);
    return run;
  };

  test('no other server leaves until one is back', async () => {
    const run = await stopped();
    run.befalls = () => undefined;
    run.gone.clear();
    await expectConverged(run);
    expectDone(run);
  });

  test('a person who ends the next one says that they are gone', async () => {
    const run = await stopped();
    run.kube.remove(PODS, at('old-2'));
    await expectConverged(run);
    expect(run.status.phase).toBe('Done');
  });
});

const at40 = async (befalls: NatsCarrying['befalls']): Promise<NatsCarrying> => {
  const run = await NatsCarrying.confirmed();
  run.befalls = befalls;
  expect(await run.converge(40)).toBe(false);
  return run;
};

/** That of a Takeover of the same name, which is gone. */
const takeName = ({ kube }: NatsCarrying): void => {
  const metadata = { ...at('new'), labels: { 'ballast.dev/takeover': 'over' } };
  if (kube.objects.has(`natsclusters/${namespace}/new`)) return;
  const kind = { apiVersion: 'ballast.dev/v1alpha1', kind: 'NatsCluster' };
  kube.put(NATS_CLUSTERS, { ...kind, metadata, spec: { replicas: 3 } });
};

const takeSecret = ({ kube }: NatsCarrying): void => {
  const metadata = at('new-users');
  kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata });
};

const redirect = ({ kube }: NatsCarrying): void => {
  kube.change(SERVICES, at('old'), { spec: { selector: { nats_cluster: null } } });
};

function hideRoutes(run: NatsCarrying): void {
  run.isUnroutable = true;
}

function hushNew(run: NatsCarrying): void {
  run.silent = isNew;
}

/** Once it is confirmed. */
function hushOne(run: NatsCarrying): void {
  const isBegun = run.status.work !== undefined;
  run.silent = (pod) => isBegun && pod === 'old-2';
}

function tellOthers(): void {
  putConfig(configText({ authorization: { users: [{ username: 'other', password: 'b' }] } }));
}

function anotherPod({ kube }: NatsCarrying): void {
  const found = kube.objects.get(`pods/${namespace}/old-1`);
  const { uid: _, ...metadata } = found?.metadata ?? { uid: '', name: '' };
  kube.put(PODS, { ...found, metadata: { ...metadata, name: 'old-4' } } as never);
}

const UNTOUCHED = ['delete pods old-1', 'delete natsclusters old', 'patch services old'];

test.each<readonly [string, NatsCarrying['befalls'], string]>([
  ['the name is taken meanwhile', onceAt('StopOperator', takeName), 'True NameTaken'],
  ['the Secret is taken meanwhile', onceAt('StopOperator', takeSecret), 'True NameTaken'],
  ['an operator appears', operatorAppears('nats-operator'), 'True OperatorAppeared'],
  ['a pod appears', onceAt('MakeCluster', anotherPod), 'True ServersAppeared'],
  ['the Service leads elsewhere', onceAt('MakeCluster', redirect), 'True ServiceChanged'],
  ['no route comes about', hideRoutes, 'True RoutesMissing'],
  ['new servers do not answer', hushNew, 'True RoutesMissing'],
  ['an old server that runs does not answer', hushOne, 'True RoutesMissing'],
  ['servers were told something else', onceAt('StopOperator', tellOthers), 'True SpecChanged'],
])('where %s nobody is led over, and no server leaves', async (_, befalls, degraded) => {
  const run = await at40(befalls);
  expect(run.condition()).toBe(degraded);
  expect(run.kube.writes.filter((one) => UNTOUCHED.includes(one))).toEqual([]);
});

test('where the Secret may no longer be seen the line that grants it is told', async () => {
  const run = await at40(onceAt('StopOperator', () => forbid('secrets', 'new-users')));
  expect(run.condition()).toBe('True SecretForbidden');
  expect(run.advice()).toContain('-- takeover -n shop --secret old --secret new-users |');
});

test('a server that has ended is not waited for, and is not said to have been seen', async () => {
  const run = await at40(hushOne);
  run.befalls = ({ kube }) => kube.remove(PODS, at('old-2'));
  await expectConverged(run);
  expectDone(run);
  const { precondition } = run.status.steps?.find(({ name }) => name === 'SwitchService') ?? {};
  expect(precondition).toContain('a route to each of old-1, old-3;');
});

test('what is confirmed is not changed by an edit of the spec', async () => {
  const grow = onceAt('JoinRoutes', (one: NatsCarrying) =>
    one.edit({ into: { spec: { replicas: 5 } } }),
  );
  const run = await at40(grow);
  expect(run.condition()).toBe('True SpecChanged');
  expect(selectorIn(run)).toEqual({ app: 'nats', nats_cluster: 'old' });
});

test('a NatsCluster of somebody else is not taken back', async () => {
  const run = await at40(onceAt('StopOperator', takeName));
  run.edit({ rollback: true });
  await expectConverged(run);
  expect(namesOf(run, 'natsclusters')).toEqual(['new', 'old']);
});

test('it is not rolled back as long as parts of the new one are there', async () => {
  const run = await NatsCarrying.confirmed();
  run.befalls = backAt('SwitchService');
  run.isGarbageKept = true;
  expect(await run.converge(40)).toBe(false);
  expect(run.condition('Complete')).toBe('False Ending');
  run.isGarbageKept = false;
  await expectConverged(run);
  expectRolledBack(run);
});

test('another plan than the confirmed one is not begun', async () => {
  const run = await NatsCarrying.confirmed();
  run.edit({ confirm: 'over-000000000000' });
  expect(await run.converge(3)).toBe(false);
  expect(run.condition()).toBe('True PlanChanged');
  expect(run.status.work).toBeUndefined();
});

test('a plan is of the servers as they were: each of these makes another one', async () => {
  const planOf = async (change: (run: NatsCarrying) => void): Promise<string | undefined> => {
    const run = await NatsCarrying.confirmed();
    run.edit({ confirm: null });
    change(run);
    await run.sweep();
    return run.status.plan?.id;
  };
  const first = await planOf(() => undefined);
  const changes: readonly ((run: NatsCarrying) => void)[] = [
    () => undefined,
    redirect,
    () => putConfig(configText({ authorization: USERS })),
    (run) => void (run.silent = (pod) => pod === 'old-2'),
    ({ kube }) => void kube.change(DEPLOYMENTS, at('nats-operator'), { spec: { replicas: 2 } }),
  ];
  const ids: (string | undefined)[] = [];
  for (const change of changes) ids.push(await planOf(change));
  expect(ids[0]).toBe(first);
  expect(new Set(ids).size).toBe(ids.length);
});

const removeLegacy = ({ kube }: NatsCarrying): void => {
  kube.remove(LEGACY_NATS, at('old'));
};

test('where the legacy object is deleted by somebody the new servers are kept', async () => {
  const run = await at40(onceAt('MoveClients', removeLegacy));
  expect(run.condition()).toBe('True LegacyGone');
  expect(run.advice()).toMatch(
    /deleted NatsCluster old .* Service old leads to it\. Delete Takeover over/,
  );
  expect(namesOf(run, 'pods')).toEqual(NEW_PODS);
  run.edit({ rollback: true });
  expect(await run.converge(10)).toBe(false);
  expect(namesOf(run, 'natsclusters')).toEqual(['new']);
});

test('clients are not led back to servers of which none answers', async () => {
  const run = await NatsCarrying.confirmed();
  run.befalls = (one) => {
    backJustBefore('MoveClients')(one);
    if (one.status.work?.rollingBackAt !== undefined) one.silent = (pod) => !isNew(pod);
  };
  expect(await run.converge(40)).toBe(false);
  expect(run.condition()).toBe('True ServersSilent');
  expect(selectorIn(run)).toEqual({ 'ballast.dev/nats-cluster': 'new' });
  run.befalls = () => undefined;
  run.silent = () => false;
  await expectConverged(run);
  expectRolledBack(run);
});

test('with servers that died meanwhile it goes to its end', async () => {
  const run = await NatsCarrying.confirmed();
  run.befalls = (one) => {
    const isMoving = one.step === 'MoveClients';
    if (isMoving && one.status.work?.switchingAt === undefined) {
      for (const name of OLD_PODS) one.kube.remove(PODS, at(name));
    }
  };
  await expectConverged(run);
  expectDone(run);
  expect(run.status.work?.switchingAt).toBeDefined();
});
