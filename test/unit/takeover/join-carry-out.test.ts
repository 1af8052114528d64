// A confirmed plan in which members join is carried out or rolled back, with the process dying at
// each single write of it, before and after the write is done, and with old reads. The world throws
// when nobody takes a write.
import { expect, test } from 'vitest';
import { CLAIMS, SERVICES } from '../../../shared/stateful/parts.ts';
import { JoinCarrying } from './join-carrying.ts';
import {
  changesOf,
  expectConverged,
  expectSteps,
  type Life,
  once,
  testLives,
  usualLives,
} from './lives.ts';
import { at } from './others-at-work.ts';
import { namesOf, ownersIn, replicasOf, specIn } from './takeover-run.ts';
import { PODS_OF_OLD } from './world.ts';

const STEPS = [
  'StopOperator',
  'JoinMembers',
  'SwitchService',
  'LeaveMembers',
  'OrphanClaims',
  'DeleteLegacy',
];
const NEW = ['new-0', 'new-1', 'new-2'];

const membersOf = ({ etcd }: JoinCarrying) => etcd.members.map(({ name }) => name);

function expectDone(run: JoinCarrying): void {
  expectSteps(run, STEPS);
  expect(membersOf(run)).toEqual(NEW);
  expect(namesOf(run, 'etcdclusters')).toEqual(['new']);
  expect(namesOf(run, 'services')).toEqual(['new', 'old-client']);
  expect(namesOf(run, 'pods')).toEqual(NEW.map((name) => `${name}-0`));
  const claims = [...NEW.map((name) => `data-${name}`), 'old-b', 'old-c'];
  expect(namesOf(run, 'persistentvolumeclaims')).toEqual(claims);
  expect(ownersIn(run, 'persistentvolumeclaims/old-b')).toEqual([]);
  expect(run.leadsToNew()).toBe(true);
}

function expectRolledBack(run: JoinCarrying): void {
  expect(run.status.phase).toBe('RolledBack');
  expect(membersOf(run)).toEqual(PODS_OF_OLD);
  expect(namesOf(run, 'etcdclusters')).toEqual(['old']);
  expect(namesOf(run, 'persistentvolumeclaims')).toEqual(['old-b', 'old-c']);
  expect(namesOf(run, 'pods')).toEqual(PODS_OF_OLD);
  const { selector } = specIn(run, 'services/old-client');
  expect(selector).toEqual({ app: 'etcd', etcd_cluster: 'old' });
  expect(ownersIn(run, 'services/old-client')).toMatchObject([{ name: 'old' }]);
  expect(replicasOf(run)).toBe(1);
}

test('it is carried out step by step, and each rests on what is written down', async () => {
  const run = await JoinCarrying.confirmed();
  const changes = await changesOf(run);
  expectDone(run);
  // etcd takes some of them not at once, and is asked again.
  expect(changes.filter((one, place) => one !== changes[place - 1])).toEqual([
    'patch deployments etcd-operator',
    'etcd add http://new-0-0.new-headless.shop.svc:2380',
    'create etcdclusters new',
    'etcd add http://new-1-0.new-headless.shop.svc:2380',
    'etcd add http://new-2-0.new-headless.shop.svc:2380',
    'patch services old-client',
    'etcd remove old-b',
    'etcd remove old-c',
    'etcd move leader',
    'etcd remove old-a',
    'patch persistentvolumeclaims old-b',
    'patch persistentvolumeclaims old-c',
    'delete etcdclusters old',
  ]);
  const complete = run.status.conditions?.find(({ type }) => type === 'Complete');
  expect(complete).toMatchObject({
    status: 'True',
    message: 'EtcdCluster new has the data and the clients of old.',
  });
});

test('once it is confirmed it is noted who is there, and who is to join', async () => {
  const run = await JoinCarrying.confirmed();
  await run.sweep();
  expect(run.status.work).toMatchObject({
    clusterId: '7',
    oldMembers: [
      { name: 'old-a', id: '64', peerUrl: 'http://old-a.old.shop.svc:2380' },
      { name: 'old-b', id: '65' },
      { name: 'old-c', id: '66' },
    ],
    newMembers: [
      { name: 'new-0', peerUrl: 'http://new-0-0.new-headless.shop.svc:2380' },
      { name: 'new-1' },
      { name: 'new-2' },
    ],
  });
});

/** Rolled back once so many members are in the list. */
const backWith =
  (count: number, isMade: boolean) =>
  (run: JoinCarrying): void => {
    const isSo = run.etcd.members.length === count && (run.cluster !== undefined) === isMade;
    if (isSo && run.status.work?.rollingBackAt === undefined) run.edit({ rollback: true });
  };

function backOnceLedOver(run: JoinCarrying): void {
  if (run.leadsToNew() && run.status.work?.switchingAt === undefined) run.edit({ rollback: true });
}

/** A new member leads when all have joined. */
function leadNew({ etcd, status }: JoinCarrying): void {
  if (status.work?.rollingBackAt !== undefined) return;
  const [last] = etcd.members.filter(({ name, isWell }) => name === 'new-2' && isWell);
  if (last !== undefined) etcd.leaderId = last.id;
}

const LIVES: readonly Life<JoinCarrying>[] = [
  ...usualLives(STEPS, 'LeaveMembers', { expectDone, expectRolledBack }),
  ['is led by a new member', leadNew, expectDone],
  ['is rolled back when the first is added', backWith(4, false), expectRolledBack],
  ['is rolled back when the EtcdCluster is there', backWith(4, true), expectRolledBack],
  ['is rolled back amid joining', backWith(5, true), expectRolledBack],
  ['is rolled back when clients are led over', backOnceLedOver, expectRolledBack],
  [
    'is rolled back with a new member leading',
    (run) => {
      leadNew(run);
      backOnceLedOver(run);
    },
    expectRolledBack,
  ],
];

testLives(() => JoinCarrying.confirmed(), LIVES);

test('an old member that dies once others leave is the first to leave', async () => {
  const run = await JoinCarrying.confirmed();
  run.befalls = ({ etcd, status }) => {
    const dying = etcd.byName('old-c');
    if (status.work?.switchingAt !== undefined && dying !== undefined) dying.isDead = true;
  };
  await expectConverged(run);
  expectDone(run);
  const left = run.writes.filter((one) => one.startsWith('etcd remove'));
  expect(left[0]).toBe('etcd remove old-c');
});

const revive = ({ etcd }: JoinCarrying): void => {
  for (const one of etcd.members) one.isDead = false;
};

test.each([
  [
    'an old member dies while others join',
    'True MembersDown',
    (run: JoinCarrying): void => {
      const dying = run.etcd.byName('old-c');
      if (run.etcd.byName('new-0')?.isWell === true && dying !== undefined) dying.isDead = true;
    },
  ],
  [
    'a new member does not start',
    'True MemberStarting',
    (run: JoinCarrying): void => {
      run.held = (name) => name === 'new-1';
    },
  ],
  [
    'somebody adds a member',
    'True StrangeMember',
    (run: JoinCarrying): void => {
      const [first] = run.etcd.members;
      const isTime = run.etcd.byName('new-0')?.isWell === true;
      if (!isTime || first === undefined || run.etcd.byName('odd') !== undefined) return;
      run.etcd.members.push({ ...first, id: '999', name: 'odd', peerUrl: 'http://odd:2380' });
    },
  ],
  [
    'keys of new members differ',
    'True KeysDiffer',
    (run: JoinCarrying): void => {
      run.hashOf = (name) => (name === 'new-1' ? 2 : 1);
    },
  ],
] as const)('where %s it waits, and can be rolled back', async (_, degraded, befalls) => {
  const run = await JoinCarrying.confirmed();
  run.befalls = befalls;
  expect(await run.converge(110)).toBe(false);
  expect(run.condition()).toBe(degraded);
  expect(run.leadsToNew()).toBe(false);
  expect(run.writes.filter((one) => /^(etcd remove|delete)/.test(one))).toEqual([]);
  run.befalls = () => undefined;
  revive(run);
  run.etcd.members = run.etcd.members.filter(({ name }) => name !== 'odd');
  run.edit({ rollback: true });
  await expectConverged(run);
  expectRolledBack(run);
});

test('a new member that is away once others leave keeps the others', async () => {
  const run = await JoinCarrying.confirmed();
  run.befalls = ({ etcd, status }) => {
    const away = etcd.byName('new-1');
    if (status.work?.switchingAt !== undefined && away !== undefined) away.isDead = true;
  };
  expect(await run.converge(30)).toBe(false);
  expect(run.condition()).toBe('True MembersDown');
  expect(membersOf(run)).toEqual([...PODS_OF_OLD, ...NEW]);
  run.befalls = () => undefined;
  revive(run);
  await expectConverged(run);
  expectDone(run);
});

test('on rollback none leaves without whom the others would have no quorum', async () => {
  const run = await JoinCarrying.confirmed();
  run.befalls = (one) => {
    backOnceLedOver(one);
    const isBack = one.status.work?.rollingBackAt !== undefined;
    for (const name of isBack ? ['old-b', 'old-c'] : []) {
      const dying = one.etcd.byName(name);
      if (dying !== undefined) dying.isDead = true;
    }
  };
  expect(await run.converge(60)).toBe(false);
  expect(run.condition()).toBe('True MembersDown');
  expect(membersOf(run)).toEqual([...PODS_OF_OLD, 'new-0', 'new-1']);
  run.befalls = () => undefined;
  revive(run);
  await expectConverged(run);
  expectRolledBack(run);
});

test('without a quorum nobody is told to leave', async () => {
  const run = await JoinCarrying.confirmed();
  run.held = () => true;
  await run.converge(4);
  const before = run.writes.length;
  const { etcd } = run;
  run.mayStop = true;
  for (const [place, one] of etcd.members.entries()) one.isDead = place > 0;
  expect(await run.converge(3)).toBe(false);
  expect(run.condition()).toBe('True NoQuorum');
  const changes = run.writes.slice(before).filter((one) => /^(etcd|patch|create|delete)/.test(one));
  expect(changes.filter((one) => !/ events /.test(one))).toEqual([]);
});

test('an EtcdCluster of that name that is not ours is told of before anybody joins', async () => {
  const run = await JoinCarrying.confirmed();
  const metadata = { ...at('new'), annotations: { 'ballast.dev/etcd-cluster-id': '7' } };
  run.befalls = ({ kube, status, cluster }) => {
    if (status.work === undefined || cluster !== undefined) return;
    const spec = { replicas: 3 };
    const joins = JSON.stringify(
      PODS_OF_OLD.map((name) => ({ name, url: `http://${name}.old.shop.svc:2380` })),
    );
    const annotations = { ...metadata.annotations, 'ballast.dev/etcd-joins': joins };
    kube.put(
      { group: 'ballast.dev', version: 'v1alpha1', resource: 'etcdclusters' },
      {
        apiVersion: 'ballast.dev/v1alpha1',
        kind: 'EtcdCluster',
        metadata: { ...metadata, annotations },
        spec,
      },
    );
  };
  expect(await run.converge(20)).toBe(false);
  expect(run.condition()).toBe('True NameTaken');
  expect(membersOf(run)).toEqual(PODS_OF_OLD);
});

test('a Service that somebody leads back is led over again before others leave', async () => {
  const run = await JoinCarrying.confirmed();
  const isTime = ({ step, etcd }: JoinCarrying): boolean =>
    step === 'LeaveMembers' && etcd.members.length <= 5;
  const selector = { 'ballast.dev/etcd-cluster': null, app: 'etcd', etcd_cluster: 'old' };
  run.befalls = once(isTime, ({ kube }) => {
    kube.change(SERVICES, at('old-client'), { spec: { selector } });
  });
  await expectConverged(run);
  expectDone(run);
  expect(run.writes.filter((one) => one === 'patch services old-client')).toHaveLength(2);
});

/** The EtcdCluster, and all that is of it. */
function deleteNew({ kube }: JoinCarrying, resources: readonly string[]): void {
  for (const resource of resources) {
    for (const { metadata } of kube.of(resource).values()) {
      const group = resource === 'etcdclusters' ? 'ballast.dev' : '';
      if (!/^(data-)?new/.test(metadata.name)) continue;
      kube.remove({ group, version: 'v1', resource }, at(metadata.name));
    }
  }
}

/** Once the first new member is well. */
const deletedOnce = (resources: readonly string[]) =>
  once(
    ({ etcd }: JoinCarrying) => etcd.byName('new-0')?.isWell === true,
    (run) => deleteNew(run, resources),
  );
function endClaims({ kube, cluster, etcd }: JoinCarrying): void {
  const isTime = etcd.byName('new-0')?.isStarted === true && cluster === undefined;
  const metadata = { deletionTimestamp: '2026-11-28T08:00:00Z' };
  if (isTime) kube.change(CLAIMS, at('data-new-0'), { metadata });
}
const OF_NEW = ['etcdclusters', 'pods', 'services'];
const madeIn = ({ writes }: JoinCarrying): number =>
  writes.filter((one) => one === 'create etcdclusters new').length;

test.each([
  ['that are gone', [...OF_NEW, 'persistentvolumeclaims'], () => undefined],
  ['that their pods still hold', OF_NEW, endClaims],
] as const)('one that somebody deletes with claims %s starts no member twice', async (...row) => {
  const [, deleted, befalls] = row;
  const run = await JoinCarrying.confirmed();
  const isDeleted = deletedOnce(deleted);
  run.befalls = (one) => {
    isDeleted(one);
    befalls(one);
  };
  expect(await run.converge(20)).toBe(false);
  expect([run.condition(), madeIn(run)]).toEqual(['True EtcdClusterGone', 1]);
  run.befalls = () => undefined;
  deleteNew(run, ['persistentvolumeclaims']);
  run.edit({ rollback: true });
  await expectConverged(run);
  expectRolledBack(run);
});

test('one that somebody deletes without its claims is made again, and goes on', async () => {
  const run = await JoinCarrying.confirmed();
  run.befalls = deletedOnce(OF_NEW);
  await expectConverged(run);
  expectDone(run);
  expect(madeIn(run)).toBe(2);
});
