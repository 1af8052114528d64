// A confirmed plan of an EtcdCluster of improbable's operator is carried out or rolled back, with
// the process dying at each single write of it: its claims stay, also that of a peer whose
// finalizer orders its operator to delete it, and nothing of the peers is left.
import { beforeEach, expect, test } from 'vitest';
import { KubeError } from '../../../shared/kube/errors.ts';
import { CLEANUP, IMPROBABLE_PEERS } from '../../builders/legacy-improbable.ts';
import { Carrying } from './carrying.ts';
import { IMPROBABLE, leaveImprobable, operate, PEERS } from './improbable-world.ts';
import { changesOf, expectConverged, testLives } from './lives.ts';
import { at } from './others-at-work.ts';
import { expectDone, expectDoneWithDeaths, livesOf, startedAt } from './restore-lives.ts';
import { namesOf, specIn } from './takeover-run.ts';
import { world } from './world.ts';

testLives(() => Carrying.confirmed(IMPROBABLE), livesOf(IMPROBABLE));

let run: Carrying;

beforeEach(async () => {
  run = await Carrying.confirmed(IMPROBABLE);
});

test('it is carried out, and changes nothing of its own but what is planned', async () => {
  const changes = await changesOf(run);
  expectDone(run);
  expect([namesOf(run, 'etcdpeers'), namesOf(run, 'replicasets')]).toEqual([[], []]);
  expect(specIn(run, 'services/old').publishNotReadyAddresses).toBe(false);
  expect(changes).toEqual([
    'patch deployments etcd-operator',
    'etcd raise',
    'create persistentvolumeclaims over-takeover-1',
    'create etcdbackups over-takeover-1',
    'create etcdrestores over-takeover-1',
    'patch services old',
    'patch etcdpeers old-2',
    'delete etcdclusters old',
  ]);
});

test('where no peer is held up nothing is written to peers', async () => {
  const steps = IMPROBABLE.steps.filter((name) => name !== 'ReleasePeers');
  const begin = () => leaveImprobable();
  const free = await Carrying.confirmed({ ...IMPROBABLE, steps, begin });
  await expectConverged(free);
  expectDone(free);
  expect(free.kube.writes.filter((one) => one.includes('etcdpeers'))).toEqual([]);
});

test('a peer that was deleted long ago ends, and its claim stays', async () => {
  const begin = () => {
    leaveImprobable({ finalizers: [CLEANUP] });
    const ending = { metadata: { deletionTimestamp: '2026-11-26T06:00:00Z' } };
    world.kube.change(IMPROBABLE_PEERS, at('old-2'), ending);
  };
  const ended = await Carrying.confirmed({ ...IMPROBABLE, begin });
  await expectConverged(ended);
  expectDone(ended);
  expect(namesOf(ended, 'etcdpeers')).toEqual([]);
});

test('a finalizer of somebody else is left to him', async () => {
  const begin = () => leaveImprobable({ finalizers: ['example.com/mine', CLEANUP] });
  const other = await Carrying.confirmed({ ...IMPROBABLE, begin });
  await expectConverged(other);
  const [peer] = other.kube.of('etcdpeers').values();
  expect(peer?.metadata.finalizers).toEqual(['example.com/mine']);
  expect(namesOf(other, 'persistentvolumeclaims')).toEqual(expect.arrayContaining(PEERS));
});

test.each(['SwitchService', 'ReleasePeers', 'DeleteLegacy'])(
  'an operator that is started at %s is stopped again, and no claim goes',
  async (step) => {
    run.befalls = startedAt(step, operate);
    await expectDoneWithDeaths(run);
  },
);

test('no peer is changed while an operator runs', async () => {
  run.befalls = startedAt('ReleasePeers', operate);
  await expectConverged(run);
  const order = run.kube.writes.filter((one) => /deployments|etcdpeers/.test(one));
  const scaled = 'patch deployments etcd-operator';
  expect(order).toEqual([scaled, scaled, 'patch etcdpeers old-2']);
});

test('while a webhook that nobody serves is left nothing is deleted', async () => {
  const patch = run.kube.patch.bind(run.kube);
  let isServed = false;
  run.kube.patch = async (ref, target, body, options) => {
    if (isServed || ref.resource !== 'etcdpeers') return patch(ref, target, body, options);
    const message = 'Internal error occurred: failed calling webhook "default.etcdpeers": no route';
    const answered = { statusCode: 500, reason: 'InternalError', message, causes: [] };
    throw new KubeError('KUBE_UNAVAILABLE', message, { verb: 'patch', ref }, { answer: answered });
  };
  expect(await run.converge(40)).toBe(false);
  expect(run.condition()).toBe('True WebhookFails');
  expect(namesOf(run, 'etcdclusters')).toEqual(['new', 'old']);
  isServed = true;
  await expectConverged(run);
  expectDone(run);
});
