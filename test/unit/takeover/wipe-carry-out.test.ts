// A confirmed plan that gives the data up is carried out or rolled back, with the process dying at
// each single write of it, before and after the write is done, and with old reads. The world throws
// when a claim is lost, or what clients wrote to the new cluster.
import { expect, test } from 'vitest';
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import { ETCD_PEERS } from '../../../shared/api/etcd-peer.ts';
import { LEGACY_ETCDS } from '../../../shared/api/takeover.ts';
import { CLAIMS, PODS, SECRETS, SERVICES } from '../../../shared/stateful/parts.ts';
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
import { beginWithTls } from './secrets.ts';
import { namesOf, objectIn, ownersIn, replicasOf } from './takeover-run.ts';
import { WipeCarrying } from './wipe-carrying.ts';
import { begin, DEPLOYMENTS, PODS_OF_OLD, world } from './world.ts';

const STEPS = ['StopOperator', 'MakeCluster', 'SwitchService', 'OrphanClaims', 'DeleteLegacy'];

function expectDone(run: WipeCarrying): void {
  expectSteps(run, STEPS);
  expect(namesOf(run, 'etcdclusters')).toEqual(['new']);
  expect(namesOf(run, 'services')).toEqual(['new', 'old-client']);
  expect(namesOf(run, 'pods')).toEqual(['new-0-0']);
  const claims = ['data-new-0', 'data-new-1', 'old-b', 'old-c'];
  expect(namesOf(run, 'persistentvolumeclaims')).toEqual(claims);
  for (const name of ['old-b', 'old-c']) {
    expect(ownersIn(run, `persistentvolumeclaims/${name}`)).toEqual([]);
  }
  expect(ownersIn(run, 'services/old-client')).toEqual([]);
  expect(run.leadsToNew()).toBe(true);
}

/** Nothing of before was touched, and nothing of what was made is left. */
function expectRolledBack(run: WipeCarrying): void {
  expect(run.status.phase).toBe('RolledBack');
  expect(namesOf(run, 'etcdclusters')).toEqual(['old']);
  expect(namesOf(run, 'etcdpeers')).toEqual([]);
  expect(namesOf(run, 'persistentvolumeclaims')).toEqual(['old-b', 'old-c']);
  expect(namesOf(run, 'pods')).toEqual(PODS_OF_OLD);
  expect(namesOf(run, 'services')).toEqual(['old', 'old-client']);
  for (const name of ['old-b', 'old-c']) {
    expect(ownersIn(run, `persistentvolumeclaims/${name}`)).toMatchObject([{ name: 'old' }]);
  }
  expect(ownersIn(run, 'services/old-client')).toMatchObject([{ name: 'old' }]);
  expect(run.leadsToNew()).toBe(false);
  expect(replicasOf(run)).toBe(1);
}

const DONE = [
  'patch deployments etcd-operator',
  'create etcdclusters new',
  'patch services old-client',
  'patch persistentvolumeclaims old-b',
  'patch persistentvolumeclaims old-c',
  'delete etcdclusters old',
];

test.each([
  ['answers', PODS_OF_OLD],
  ['answers without a quorum', ['old-b']],
  ['answers nobody', []],
])('where who %s it is carried out, step by step', async (_, answering) => {
  const run = await WipeCarrying.confirmed({ answering });
  expect(await changesOf(run)).toEqual(DONE);
  expectDone(run);
  const complete = run.status.conditions?.find(({ type }) => type === 'Complete');
  expect(complete).toMatchObject({
    status: 'True',
    reason: 'TakenOver',
    message:
      'EtcdCluster new was born empty, and has the clients of old. Kept, without an owner: ' +
      'claims old-b, old-c.',
  });
  expect(run.status.members?.map(({ pod }) => pod)).toEqual(PODS_OF_OLD);
});

test('one without a pod is carried out', async () => {
  const start = (): void => {
    begin();
    for (const name of PODS_OF_OLD) world.kube.remove(PODS, at(name));
  };
  const run = await WipeCarrying.confirmed({ start });
  await expectConverged(run);
  expectDone(run);
});

test('one over TLS is carried out without the Secret of its operator', async () => {
  const start = (): void => {
    beginWithTls({ mode: 'Wipe' });
    world.kube.remove(SECRETS, at('operator'));
  };
  const run = await WipeCarrying.confirmed({ start });
  await expectConverged(run);
  expectDone(run);
});

type When = (run: WipeCarrying) => boolean;

/** Rolled back in the first moment in which it is so. */
const backWhen =
  (isSo: When) =>
  (run: WipeCarrying): void => {
    const { work } = run.status;
    const isTime = work !== undefined && work.switchingAt === undefined && isSo(run);
    if (isTime && work.rollingBackAt === undefined) run.edit({ rollback: true });
  };

const ID = 'ballast.dev/etcd-cluster-id';
const isMade: When = ({ cluster }) => cluster !== undefined;
const hasClaim: When = (run) => run.claim('data-new-0') !== undefined;
const isBorn: When = ({ cluster }) => Object(cluster?.['status']).clusterId !== undefined;
const isMarked: When = (run) => run.claim('data-new-0')?.metadata.annotations?.[ID] !== undefined;
const isJoined: When = (run) => run.claim('data-new-1') !== undefined;

const LIVES: readonly Life<WipeCarrying>[] = [
  ...usualLives(STEPS, 'SwitchService', { expectDone, expectRolledBack }),
  ['is rolled back when the EtcdCluster is there', backWhen(isMade), expectRolledBack],
  ['is rolled back when it has a claim', backWhen(hasClaim), expectRolledBack],
  ['is rolled back when it is born', backWhen(isBorn), expectRolledBack],
  ['is rolled back when its claim is marked', backWhen(isMarked), expectRolledBack],
  ['is rolled back when another member joins', backWhen(isJoined), expectRolledBack],
];

testLives(() => WipeCarrying.confirmed({ answering: ['old-b'] }), LIVES);

test('what came while nobody looked is rolled back as well', async () => {
  const run = await WipeCarrying.confirmed();
  run.isHeld = true;
  await run.converge(4);
  run.isHeld = false;
  for (let count = 0; count < 8; count += 1) run.tick();
  expect([isMarked(run), isJoined(run), run.status.work?.newClusterId]).toEqual([
    true,
    true,
    undefined,
  ]);
  run.edit({ rollback: true });
  await expectConverged(run);
  expectRolledBack(run);
});

/** From when the plan was confirmed on. */
const onceBegun =
  (befalls: (run: WipeCarrying) => void) =>
  (run: WipeCarrying): void => {
    if (run.status.work !== undefined) befalls(run);
  };

/** Somebody makes one of that name, with marks of ours. */
const putNew = (marks: (uid: string) => object = () => ({})) =>
  onceBegun(({ kube, cluster }) => {
    if (cluster !== undefined) return;
    const { uid = '' } = objectIn({ kube }, 'takeovers/over')?.metadata ?? {};
    const metadata = { ...at('new'), ...marks(uid) };
    kube.put(ETCD_CLUSTERS, {
      apiVersion: 'ballast.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata,
      spec: {},
    });
  });

const OURS = { 'ballast.dev/takeover': 'over' };

const OBSTACLES: readonly [string, string, (run: WipeCarrying) => void][] = [
  [
    'a claim of a member is there',
    'NotEmpty',
    onceBegun(({ kube, cluster }) => {
      if (cluster !== undefined) return;
      const metadata = at('data-new-3');
      kube.put(CLAIMS, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata });
    }),
  ],
  ['somebody takes the name', 'NameTaken', putNew()],
  [
    'it was made for a Takeover of this name before it',
    'NameTaken',
    putNew(() => ({ labels: OURS, annotations: { 'ballast.dev/takeover-uid': 'former' } })),
  ],
  [
    'it is to be born with the data of a cluster',
    'NameTaken',
    putNew((uid) => ({
      labels: OURS,
      annotations: { 'ballast.dev/takeover-uid': uid, [ID]: 'a1' },
    })),
  ],
  [
    'the old one says something else',
    'SpecChanged',
    onceBegun(({ kube }) => void kube.change(LEGACY_ETCDS, at('old'), { spec: { size: 5 } })),
  ],
  [
    'the Takeover says something else',
    'SpecChanged',
    onceBegun((run) => run.edit({ into: { name: 'new', spec: { replicas: 1 } } })),
  ],
  ['the word is taken back', 'WipeUnsaid', onceBegun((run) => run.edit({ wipe: 'other' }))],
  [
    'the Service leads elsewhere',
    'ServiceChanged',
    onceBegun(
      ({ kube }) =>
        void kube.change(SERVICES, at('old-client'), { spec: { selector: { a: 'b' } } }),
    ),
  ],
  [
    'an operator fights',
    'NoEffect',
    onceBegun(({ kube, status }) => {
      if (status.work?.rollingBackAt !== undefined) return;
      kube.change(DEPLOYMENTS, at('etcd-operator'), { spec: { replicas: 1 } });
    }),
  ],
  [
    'the new members do not start',
    'NotDegraded',
    onceBegun((run) => {
      run.isHeld = true;
    }),
  ],
];

test.each(OBSTACLES)('where %s nothing is led over or deleted', async (_, reason, befalls) => {
  const run = await WipeCarrying.confirmed();
  const before = run.writes.length;
  run.befalls = befalls;
  expect(await run.converge(40)).toBe(false);
  expect(run.condition()).toMatch(new RegExp(` ${reason}$`));
  const changes = run.changesFrom(before).filter((one) => one !== DONE[0] && one !== DONE[1]);
  expect(changes).toEqual([]);
  expect(namesOf(run, 'pods')).toEqual(expect.arrayContaining([...PODS_OF_OLD]));
});

test('a new cluster that is not Ready any more keeps the old object', async () => {
  const run = await WipeCarrying.confirmed();
  run.befalls = ({ kube, cluster, step }) => {
    if (step !== 'OrphanClaims' || cluster === undefined) return;
    const away = { type: 'Ready', status: 'False', reason: 'Away', message: 'All are away.' };
    kube.change(ETCD_CLUSTERS, at('new'), { status: { conditions: [away] } });
  };
  expect(await run.converge(30)).toBe(false);
  expect(run.condition('Complete')).toBe('False EtcdClusterStarting');
  expect(namesOf(run, 'etcdclusters')).toEqual(['new', 'old']);
});

test('one that is born anew before clients are led over is known by its new id', async () => {
  const run = await WipeCarrying.confirmed();
  const isKnown: When = ({ status }) => status.work?.newClusterId !== undefined;
  run.befalls = once(isKnown, ({ kube }) => {
    kube.remove(ETCD_CLUSTERS, at('new'));
    kube.remove(ETCD_PEERS, at('new-0'));
    for (const name of ['data-new-0', 'data-new-1']) kube.remove(CLAIMS, at(name));
  });
  await expectConverged(run);
  expectDone(run);
  expect(run.writes.filter((one) => one === 'create etcdclusters new')).toHaveLength(2);
});

/** Claims like this one, as an operator that is not stopped yet would make them. */
const putMore = (count: number) => (run: WipeCarrying) => {
  const found = run.claim('old-b');
  if (run.step !== 'MakeCluster' || found === undefined) return;
  for (const place of Array.from({ length: count }).keys()) {
    const name = `old-d-${place}`;
    if (run.claim(name) !== undefined) continue;
    run.kube.put(CLAIMS, { ...found, metadata: { ...found.metadata, ...at(name) } });
  }
};

test('a claim that comes after the plan is kept as well', async () => {
  const run = await WipeCarrying.confirmed();
  run.befalls = putMore(1);
  await expectConverged(run);
  expect(namesOf(run, 'persistentvolumeclaims')).toContain('old-d-0');
  expect(ownersIn(run, 'persistentvolumeclaims/old-d-0')).toEqual([]);
});

test.each([
  ['before the plan', 0, 'old-b'],
  ['when its pod is gone as well', 1, 'old-c'],
])('a claim that has lost its label %s is kept as well', async (_, begun, name) => {
  const lose = ({ kube }: WipeCarrying): void => {
    kube.change(CLAIMS, at(name), { metadata: { labels: null } });
  };
  const start = (): void => {
    begin();
    if (begun === 0) world.kube.change(CLAIMS, at(name), { metadata: { labels: null } });
  };
  const run = await WipeCarrying.confirmed({ start });
  run.befalls = (one) => {
    if (one.step !== 'MakeCluster' || begun === 0) return;
    one.kube.remove(PODS, at(name));
    lose(one);
  };
  await expectConverged(run);
  expectDone(run);
});

test('claims beyond those that are told of keep the old object', async () => {
  const run = await WipeCarrying.confirmed();
  run.befalls = putMore(45);
  expect(await run.converge(60)).toBe(false);
  expect(run.condition()).toBe('True TooMany');
  expect(namesOf(run, 'etcdclusters')).toEqual(['new', 'old']);
});
