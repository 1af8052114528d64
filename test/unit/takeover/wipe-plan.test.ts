// The plan of a takeover that gives the data up: what is made and what goes, what is lost and what
// could be kept, and what speaks against it. How the old members are is no reason.
import { beforeEach, describe, expect, test } from 'vitest';
import { CLAIMS, PODS, SECRETS, SERVICES } from '../../../shared/stateful/parts.ts';
import { at } from './others-at-work.ts';
import { beginWithTls, HOSTS, into as intoTls, putGiven } from './secrets.ts';
import {
  answer,
  answerOf,
  begin,
  conditionOf,
  fates,
  forbid,
  noteOf,
  plan,
  PODS_OF_OLD,
  putClaim,
  putOperator,
  putPod,
  putTakeover,
  refusal,
  refusals,
  statusOf,
  sweep,
  world,
} from './world.ts';

const WIPE = { mode: 'Wipe' };
/** The model fills in no defaults. */
const into = (spec: object = {}) => ({ into: { name: 'new', spec: { quota: '2Gi', ...spec } } });

beforeEach(() => {
  begin({ spec: WIPE });
});

function silence(...pods: readonly string[]): void {
  for (const pod of pods) answer(pod, 'It hangs.');
}

test('every object has its fate, and claims are kept', async () => {
  begin({ spec: { ...WIPE, ...into({ replicas: 3 }) } });
  putOperator(1);
  expect(await fates()).toEqual([
    'Make EtcdCluster new',
    'Make PersistentVolumeClaim data-new-0',
    'Make PersistentVolumeClaim data-new-1',
    'Make PersistentVolumeClaim data-new-2',
    'Adopt Service old-client',
    'Delete Service old',
    'Change Deployment etcd-operator',
    'Delete EtcdCluster (etcd.database.coreos.com) old',
    'Delete Pod old-a',
    'Delete Pod old-b',
    'Delete Pod old-c',
    'Keep PersistentVolumeClaim old-b',
    'Keep PersistentVolumeClaim old-c',
    'Keep CustomResourceDefinition etcdclusters.etcd.database.coreos.com',
  ]);
  const pod = (await plan()).objects.find(({ name }) => name === 'old-b');
  expect(pod?.why).toContain('its data stays in claim old-b');
});

test.each([
  ['a quorum answers', [], undefined],
  ['nobody can write', ['old-b', 'old-c'], 'GoOn'],
])('where %s the steps say whether writers wait', async (_, silent, writers) => {
  putOperator(1);
  silence(...silent);
  if (silent.length > 0) answer('old-a', { ...answerOf(0), isQuorate: false });
  const { steps, refusals: found } = await plan();
  expect(found).toEqual([]);
  expect(steps.map((step) => [step.name, step.writers, step.noWayBack])).toEqual([
    ['StopOperator', undefined, undefined],
    ['MakeCluster', undefined, undefined],
    ['SwitchService', writers, true],
    ['OrphanClaims', undefined, undefined],
    ['DeleteLegacy', undefined, undefined],
  ]);
});

test('it tells what is lost, and what is kept without an owner', async () => {
  expect(await noteOf('DataLost')).toBe(
    'EtcdCluster new is born empty: no key, lease, user or role of old will be in it, nor what ' +
      'is written to old until its pods are gone. Kept, without an owner, until a person deletes ' +
      'them: claims old-b, old-c. What old-a has in an emptyDir goes with the pod, and nothing ' +
      'brings it back.',
  );
  for (const name of ['old-b', 'old-c']) {
    world.kube.remove(CLAIMS, at(name));
    world.kube.remove(PODS, at(name));
    putPod(name, undefined);
  }
  expect(await noteOf('DataLost')).toContain('No claim of it is there, so that nothing is kept.');
});

test('it tells what could be kept, as long as somebody answers', async () => {
  expect(await noteOf('DataCouldBeKept')).toContain('A quorum of the old members answers. Write');
  silence('old-b', 'old-c');
  answer('old-a', { ...answerOf(0), isQuorate: false });
  expect(await noteOf('DataCouldBeKept')).toContain('old-a answers, without a quorum. Back it up');
  silence('old-a');
  expect(await noteOf('DataCouldBeKept')).toBeUndefined();
});

test.each<[string, () => void]>([
  ['nobody answers', () => silence(...PODS_OF_OLD)],
  ['no pod is there', () => PODS_OF_OLD.forEach((name) => world.kube.remove(PODS, at(name)))],
  ['members are of different clusters', () => answer('old-c', otherCluster())],
  ['members ask for logins', () => answer('old-a', { ...answerOf(0), hasAuth: true })],
  ['members are too old', () => answer('old-a', answerOf(0, { version: '3.2.1' }))],
  ['there are keys of before', () => answer('old-a', { ...answerOf(0), hasV2Keys: true })],
  ['there is more than the quota', () => answer('old-a', answerOf(0, { dbSizeBytes: 2 ** 40 }))],
  ['a probe asks for the health', () => putPod('old-b', 'old-b', true, PROBE)],
])('where %s there is a plan', async (_, change) => {
  change();
  expect(await refusals()).toEqual([]);
  expect(statusOf().plan?.id).toMatch(/^over-[0-9a-f]{12}$/);
});

const PROBE = { httpGet: { path: '/health', port: 2379 } };

function otherCluster() {
  const { header } = answerOf(2).status;
  return answerOf(2, { header: { ...header, clusterId: '8' } });
}

test('the id is another one once a quorum stands', async () => {
  for (const [place, pod] of PODS_OF_OLD.entries()) {
    answer(pod, { ...answerOf(place), isQuorate: false });
  }
  const { id } = await plan();
  for (const [place, pod] of PODS_OF_OLD.entries()) answer(pod, answerOf(place));
  expect((await plan()).id).not.toBe(id);
});

describe('the word', () => {
  test('is not part of the plan, which is read before it is written', async () => {
    const { id, refusals: found } = await plan();
    expect(found).toEqual([]);
    putTakeover({ ...WIPE, wipe: 'old' });
    expect((await plan()).id).toBe(id);
  });

  test.each([
    ['there is none', {}, 'spec.wipe is not there. If that is .* write wipe: old beside'],
    ['it is another one', { wipe: 'other' }, 'spec.wipe is not old. If that is'],
  ])('is missed where %s', async (_, said, why) => {
    const { id: confirm } = await plan();
    putTakeover({ ...WIPE, ...said, confirm });
    expect(await refusal()).toMatch(new RegExp(`^WipeUnsaid: spec.mode is Wipe, .*${why}`));
    expect(await sweep()).toEqual([]);
    expect([statusOf().work, conditionOf('Degraded')]).toEqual([undefined, 'True WipeUnsaid']);
  });

  test('of another mode means nothing', async () => {
    const { id: confirm } = await plan();
    begin({ spec: { mode: 'Restore', wipe: 'old', confirm } });
    await sweep();
    expect(conditionOf('Degraded')).toBe('True PlanChanged');
  });
});

describe('against it speaks', () => {
  test.each<[string, RegExp, () => void]>([
    [
      'a claim of a member of the new one',
      /^NotEmpty: The new EtcdCluster shop\/new is to be empty, .*: claim data-new-3\. Write/,
      () => putClaim('data-new-3', false),
    ],
    [
      'a Service of its name',
      /^NameTaken: .*: Service new\./,
      () =>
        world.kube.put(SERVICES, {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: at('new'),
        }),
    ],
    [
      'more claims than any operator makes',
      /^TooMany: More pods or claims have the label/,
      () => Array.from({ length: 41 }, (_, place) => putClaim(`more-${place}`)),
    ],
    [
      'the Service of the clients, which is not there',
      /^ServiceMissing: /,
      () => world.kube.remove(SERVICES, at('old-client')),
    ],
    [
      'a policy that lets nobody in',
      /^PolicyClosed: /,
      () => putTakeover({ ...WIPE, ...into({ networkPolicy: 'Closed' }) }),
    ],
    [
      'a cluster without members',
      /^EtcdClusterRefused: .*it would hibernate/,
      () => putTakeover({ ...WIPE, ...into({ replicas: 0 }) }),
    ],
  ])('%s', async (_, why, change) => {
    change();
    expect(await refusal()).toMatch(why);
    expect(statusOf().plan?.id).toBeUndefined();
  });
});

describe('over TLS', () => {
  beforeEach(() => {
    beginWithTls(WIPE);
  });

  const CUT_OFF = 'ClientsCutOff';

  test('nothing speaks against it where all fit', async () => {
    expect(await refusal()).toBe('');
    expect(await noteOf(CUT_OFF)).toBeUndefined();
  });

  test('nobody has to ask the old members', async () => {
    world.kube.remove(SECRETS, at('operator'));
    forbid('secrets', 'server');
    expect(await refusal()).toBe('');
    expect(await noteOf(CUT_OFF)).toMatch(/There is no Secret shop\/operator.*may not read Secret/);
  });

  test('a certificate that clients may not trust is told of', async () => {
    putGiven(HOSTS.slice(1));
    expect(await refusal()).toBe('');
    expect(await noteOf(CUT_OFF)).toMatch(/^Clients may be cut off until .*Secret shop\/given/);
  });

  test.each<[string, () => void]>([
    ['CertificateMissing', () => beginWithTls({ ...WIPE, ...intoTls({}) })],
    ['SecretMissing', () => world.kube.remove(SECRETS, at('given'))],
    ['SecretForbidden', () => forbid('secrets', 'given')],
  ])('%s where the new members have none', async (reason, change) => {
    change();
    expect(await refusals()).toEqual([reason]);
  });
});
