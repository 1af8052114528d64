// The plan of a takeover in which members join the old ones: which objects and steps it has, what
// speaks against it.
import { beforeEach, describe, expect, test } from 'vitest';
import {
  answer,
  answerOf,
  begin,
  conditionOf,
  fates,
  plan,
  PODS_OF_OLD,
  putPod,
  refusal,
  refusals,
  specTried,
  statusOf,
  sweep,
  world,
} from './world.ts';

const IMAGE = 'quay.io/coreos/etcd:v3.5.35';

/** The model fills in no defaults. */
const into = (spec: object = {}) => ({
  mode: 'Join',
  into: { name: 'new', spec: { quota: '2Gi', ...spec } },
});

beforeEach(() => {
  begin({ spec: into() });
});

test('nothing speaks against it, and it waits for a person', async () => {
  const { id, refusals: found } = await plan();
  expect([id, found]).toEqual([expect.stringMatching(/^over-[0-9a-f]{12}$/), []]);
  expect([conditionOf('Planned'), conditionOf('Complete')]).toEqual([
    'True Planned',
    'False NotConfirmed',
  ]);
});

test('a plan of another mode does not confirm it', async () => {
  begin({ spec: { mode: 'Restore', into: into().into } });
  const { id: confirm } = await plan();
  begin({ spec: { ...into(), confirm } });
  expect(await sweep()).toEqual(['apply takeovers/status over']);
  expect(conditionOf('Complete')).toBe('False PlanChanged');
  expect(statusOf().work).toBeUndefined();
});

test('every object has its fate', async () => {
  expect(await fates()).toEqual([
    'Make EtcdCluster new',
    'Make PersistentVolumeClaim data-new-0',
    'Make PersistentVolumeClaim data-new-1',
    'Make PersistentVolumeClaim data-new-2',
    'Adopt Service old-client',
    'Delete Service old',
    'Delete EtcdCluster (etcd.database.coreos.com) old',
    'Delete Pod old-a',
    'Delete Pod old-b',
    'Delete Pod old-c',
    'Keep PersistentVolumeClaim old-b',
    'Keep PersistentVolumeClaim old-c',
    'Keep CustomResourceDefinition etcdclusters.etcd.database.coreos.com',
  ]);
});

test('writers never stop, and the first old member that leaves has no way back', async () => {
  const { steps } = await plan();
  expect(steps.map(({ name, noWayBack = false }) => [name, noWayBack])).toEqual([
    ['JoinMembers', false],
    ['SwitchService', false],
    ['LeaveMembers', true],
    ['OrphanClaims', false],
    ['DeleteLegacy', false],
  ]);
  expect(steps.filter(({ writers }) => writers !== undefined)).toEqual([]);
  expect(steps[0]?.does).toContain('new-0, new-1, new-2 join');
  expect(steps[0]?.precondition).toContain('cluster 7 answers');
});

test('new members are of a version that joins, and know each other as the old ones', async () => {
  expect(await specTried()).toMatchObject({
    image: IMAGE,
    replicas: 3,
    tls: { clients: { mode: 'None' }, peers: { mode: 'None' } },
  });
});

test('what is to know stands there', async () => {
  const { notes } = await plan();
  expect(notes.map(({ reason }) => reason)).toEqual(['EmptyDir', 'DirectClients', 'StaysOld']);
  expect(notes[1]?.message).toContain('cut off when that member leaves');
});

const knowing = (count: number) =>
  answerOf(0)
    .members.slice(0, count)
    .map((one) => ({ ...one }));

describe('refused', () => {
  test.each([
    ['the object says it', { TLS: { static: { member: { peerSecret: 'peers' } } } }],
    ['a member says it', {}],
  ])('members know each other over TLS: %s', async (_, legacy) => {
    begin({ legacy, spec: into() });
    if (Object.keys(legacy).length === 0) {
      const members = answerOf(0).members.map((one) => ({
        ...one,
        peerUrls: one.peerUrls.map((url) => url.replace('http:', 'https:')),
      }));
      for (const [at, name] of PODS_OF_OLD.entries()) answer(name, { ...answerOf(at), members });
    }
    expect(await refusal()).toMatch(/^PeersHaveTls: .*Write spec\.mode: Restore\.$/);
  });

  test.each(['quay.io/coreos/etcd:v3.6.16', 'quay.io/coreos/etcd:v3.4.13'])(
    'new members would run %s',
    async (image) => {
      begin({ spec: into({ image }) });
      expect(await refusal()).toMatch(/^VersionUnfit: New members would run .*write one of 3\.5;/);
    },
  );

  test('an old member is newer than 3.5', async () => {
    answer('old-b', answerOf(1, { version: '3.6.16' }));
    expect(await refusal()).toMatch(/^VersionTooNew: It runs etcd 3\.6\.16, .*mode: Restore\.$/);
  });

  test.each(['3.4.13', '3.5.35'])('and not one of %s', async (version) => {
    for (const [at, name] of PODS_OF_OLD.entries()) answer(name, answerOf(at, { version }));
    expect(await refusals()).toEqual([]);
  });

  test('a member does not answer', async () => {
    answer('old-c', 'It hangs.');
    expect(await refusal()).toMatch(
      /^MembersDown: Of its members old-c does not answer\. .*remove/,
    );
  });

  test('a member was added, and never started', async () => {
    const unstarted = { id: '999', name: '', peerUrls: [], clientUrls: [], isLearner: false };
    for (const [at, name] of PODS_OF_OLD.entries()) {
      const said = answerOf(at);
      answer(name, { ...said, members: [...said.members, unstarted] });
    }
    expect(await refusal()).toMatch(/^MembersDown: Of its members an unstarted member 999 /);
  });

  test('no quorum stands: that is told once', async () => {
    answer('old-a', { ...answerOf(0), isQuorate: false });
    for (const name of ['old-b', 'old-c']) answer(name, 'It hangs.');
    expect(await refusals()).toEqual(['NoQuorum']);
  });

  test('it has one member', async () => {
    answer('old-a', { ...answerOf(0), members: knowing(1) });
    for (const name of ['old-b', 'old-c']) answer(name, 'It hangs.');
    expect(await refusal()).toMatch(/^SingleMember: .*Write spec\.mode: Restore\.$/);
  });

  test.each<[object, string]>([
    [{ tls: { peers: { mode: 'Mutual' } } }, 'PeersWantTls: .*Leave spec.into.spec.tls.peers out'],
    [{ auth: { users: [] } }, 'LoginsTooEarly: .*Leave spec.into.spec.auth out'],
    [{ networkPolicy: 'Closed' }, 'PolicyClosed: '],
  ])('the new ones would be of %j', async (spec, why) => {
    begin({ spec: into(spec) });
    expect(await refusal()).toMatch(new RegExp(`^${why}`));
  });

  test('members are at addresses that no operator gave them', async () => {
    const members = answerOf(0).members.map((one) => ({
      ...one,
      peerUrls: [`http://10.0.0.${one.id}:2380`],
    }));
    for (const [at, name] of PODS_OF_OLD.entries()) answer(name, { ...answerOf(at), members });
    expect(await refusal()).toMatch(/^PeersElsewhere: .*here are old-a at http:\/\/10\.0\.0\.100:/);
  });

  test('the new ones would be in memory', async () => {
    begin({ spec: into({ storage: { medium: 'Memory' } }) });
    expect(await refusal()).toMatch(/^EtcdClusterRefused: .*its data is to be on a volume/);
  });

  test('its new name is taken, and its operator fights where nobody knows', async () => {
    putPod('new-0', undefined, false);
    world.kube.put(
      { group: '', version: 'v1', resource: 'services' },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: 'shop', name: 'new' },
      },
    );
    expect(await refusal()).toMatch(/^NameTaken: /);
  });
});

test('a probe that ends unhealthy pods is in the way of an alarm alone', async () => {
  putPod('old-a', undefined, true, { httpGet: { path: '/health', port: 2379 } });
  expect(await refusals()).toEqual([]);
  begin({ spec: { mode: 'Restore', into: into().into } });
  putPod('old-a', undefined, true, { httpGet: { path: '/health', port: 2379 } });
  expect(await refusals()).toEqual(['ProbeEndsPods']);
});
