// A confirmed plan of an EtcdCluster of aenix's operator is carried out or rolled back, with the
// process dying at each single write of it: its claims stay, and its operator, whoever starts it
// again, takes the Service of the clients with nothing.
import { beforeEach, expect, test } from 'vitest';
import { PODS, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { AENIX, leaveAenix, GONE, operate } from './aenix-world.ts';
import { Carrying } from './carrying.ts';
import { changesOf, expectConverged, testLives } from './lives.ts';
import { at } from './others-at-work.ts';
import { expectDone, expectDoneWithDeaths, livesOf, startedAt } from './restore-lives.ts';
import { namesOf } from './takeover-run.ts';

testLives(() => Carrying.confirmed(AENIX), livesOf(AENIX));

let run: Carrying;

beforeEach(async () => {
  run = await Carrying.confirmed(AENIX);
});

test('it is carried out, and changes nothing of its own but what is planned', async () => {
  expect(await changesOf(run)).toEqual([
    'patch deployments etcd-operator',
    'etcd raise',
    'create persistentvolumeclaims over-takeover-1',
    'create etcdbackups over-takeover-1',
    'create etcdrestores over-takeover-1',
    'patch services old',
    'delete etcdclusters old',
  ]);
  expectDone(run);
});

test.each([
  ['SwitchService', 1],
  ['DeleteLegacy', 2],
])(
  'an operator that is started at %s is stopped again, and clients stay led over',
  async (step, times) => {
    // The operator leads the Service back at once.
    run.befalls = startedAt(step, operate);
    await expectDoneWithDeaths(run);
    const led = run.writes.filter((one) => one === 'patch services old');
    expect(led).toHaveLength(times);
  },
);

test.each(['Snapshot', 'DeleteLegacy'])(
  'where claims would go with the StatefulSet since %s nothing of the old one is deleted',
  async (step) => {
    run.befalls = ({ kube, step: now }) => {
      const spec = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } };
      if (now === step) kube.change(STATEFUL_SETS, at('old'), { spec });
    };
    expect(await run.converge(40)).toBe(false);
    expect(run.condition()).toBe('True ClaimsGo');
    expect(namesOf(run, 'statefulsets')).toEqual(['old']);
    run.befalls = () => undefined;
    const spec = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain' } };
    run.kube.change(STATEFUL_SETS, at('old'), { spec });
    await expectConverged(run);
    expectDone(run);
  },
);

test('writers are not stopped while the kubelet would end a member of the quorum', async () => {
  const begin = () => leaveAenix({ metadata: GONE, isStarted: false });
  const starting = await Carrying.confirmed({ ...AENIX, begin });
  expect(await starting.converge(8)).toBe(false);
  expect(starting.condition('Complete')).toBe('False PodsStarting');
  expect(starting.etcds.alarms).toEqual([]);
  const status = { containerStatuses: [{ name: 'etcd', started: true }] };
  for (const pod of AENIX.pods) starting.kube.change(PODS, at(pod), { status });
  await expectConverged(starting);
  expectDone(starting);
});
