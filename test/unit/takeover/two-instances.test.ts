// Two instances of the function at one Takeover: while the one looks, or waits for the answer to
// what it has asked for, the other rolls it back. Nothing of what the first one does is left.
import { describe, expect, test } from 'vitest';
import { Carrying } from './carrying.ts';
import { beginChart } from './chart-world.ts';
import { JoinCarrying } from './join-carrying.ts';
import { NatsCarrying } from './nats-carrying.ts';
import { namesOf, type TakeoverRun } from './takeover-run.ts';
import { WipeCarrying } from './wipe-carrying.ts';
import { namespace, PODS_OF_OLD } from './world.ts';

type Hook = (occurs: () => Promise<void>) => void;

interface Turned {
  readonly hook: Hook;
  readonly isTime: () => boolean;
  /** How far the other one comes until the first goes on. */
  readonly work: () => Promise<unknown>;
}

async function turnedBack<Run extends TakeoverRun<Run>>(
  run: TakeoverRun<Run>,
  { hook, isTime, work }: Turned,
): Promise<void> {
  let isTurned = false;
  hook(async () => {
    if (isTurned || !isTime()) return;
    isTurned = true;
    run.edit({ rollback: true });
    await work();
  });
  await run.converge();
  expect([isTurned, run.status.phase]).toEqual([true, 'RolledBack']);
}

const answers =
  <Run extends TakeoverRun<Run>>(run: TakeoverRun<Run>): Hook =>
  (occurs) => {
    run.beforeAnswer = occurs;
  };

const changes =
  <Run extends TakeoverRun<Run>>(run: TakeoverRun<Run>): Hook =>
  (occurs) => {
    run.beforeChange = occurs;
  };

const isMade =
  <Run extends TakeoverRun<Run>>({ kube }: TakeoverRun<Run>): Hook =>
  (occurs) => {
    const create = kube.create.bind(kube);
    kube.create = async (ref, ...asked) => {
      if (['etcdclusters', 'natsclusters'].includes(ref.resource)) await occurs();
      return create(ref, ...asked);
    };
  };

const isLedOver =
  <Run extends TakeoverRun<Run>>({ kube }: TakeoverRun<Run>): Hook =>
  (occurs) => {
    const patch = kube.patch.bind(kube);
    kube.patch = async (ref, ...asked) => {
      if (ref.resource === 'services') await occurs();
      return patch(ref, ...asked);
    };
  };

describe('members that join', () => {
  const membersOf = ({ etcd }: JoinCarrying) => etcd.members.map(({ name }) => name);
  const isToAdd = (run: JoinCarrying) => () =>
    run.step === 'JoinMembers' && membersOf(run).length === PODS_OF_OLD.length;

  test('none is added by a look that began before it was rolled back', async () => {
    const run = await JoinCarrying.confirmed();
    const other = run.another();
    await turnedBack(run, {
      hook: answers(run),
      isTime: isToAdd(run),
      work: () => other.converge(),
    });
    expect(membersOf(run)).toEqual(PODS_OF_OLD);
  });

  test('one that is added when it is being rolled back leaves', async () => {
    const run = await JoinCarrying.confirmed();
    const other = run.another();
    await turnedBack(run, { hook: changes(run), isTime: isToAdd(run), work: () => other.sweep() });
    expect(membersOf(run)).toEqual(PODS_OF_OLD);
  });

  test('an EtcdCluster that is made when it is being rolled back is deleted', async () => {
    const run = await JoinCarrying.confirmed();
    const other = run.another();
    const isTime = () => membersOf(run).length > PODS_OF_OLD.length;
    await turnedBack(run, { hook: isMade(run), isTime, work: () => other.sweep() });
    expect([membersOf(run), namesOf(run, 'etcdclusters')]).toEqual([PODS_OF_OLD, ['old']]);
  });
});

test('an empty EtcdCluster that is made when it is being rolled back is deleted', async () => {
  const run = await WipeCarrying.confirmed();
  const other = run.another();
  const isTime = () => run.step === 'MakeCluster';
  await turnedBack(run, { hook: isMade(run), isTime, work: () => other.sweep() });
  expect(namesOf(run, 'etcdclusters')).toEqual(['old']);
  expect(namesOf(run, 'persistentvolumeclaims')).toEqual(['old-b', 'old-c']);
});

describe('a snapshot that is restored', () => {
  const isToStop = (run: Carrying) => () => run.step === 'FreezeWriters';

  test('writers are not stopped by a look that began before it was rolled back', async () => {
    const run = await Carrying.confirmed();
    const other = run.another();
    await turnedBack(run, {
      hook: answers(run),
      isTime: isToStop(run),
      work: () => other.converge(),
    });
    expect(run.etcds.alarms).toEqual([]);
  });

  test('writers that are stopped when it is being rolled back go on', async () => {
    const run = await Carrying.confirmed();
    const other = run.another();
    await turnedBack(run, { hook: changes(run), isTime: isToStop(run), work: () => other.sweep() });
    expect(run.etcds.alarms).toEqual([]);
  });
});

describe.each([
  ['the chart', () => NatsCarrying.confirmed(() => beginChart())],
  ['the NATS operator', () => NatsCarrying.confirmed()],
] as const)('a NATS of %s', (_, confirmed) => {
  const leadsTo = ({ kube }: NatsCarrying): object =>
    Object(kube.objects.get(`services/${namespace}/old`)?.['spec']).selector;
  const SOME_SWEEPS = 2;

  test('clients that are led over when it has been rolled back are led back', async () => {
    const run = await confirmed();
    const [other, before] = [run.another(), leadsTo(run)];
    const isTime = () => run.step === 'SwitchService';
    const work = () => other.converge(SOME_SWEEPS);
    await turnedBack(run, { hook: isLedOver(run), isTime, work });
    expect(leadsTo(run)).toEqual(before);
  });

  test('a NatsCluster that is made when it is being rolled back is deleted', async () => {
    const run = await confirmed();
    const other = run.another();
    const before = namesOf(run, 'natsclusters');
    const isTime = () => run.step === 'MakeCluster';
    const work = () => other.converge(SOME_SWEEPS);
    await turnedBack(run, { hook: isMade(run), isTime, work });
    expect(namesOf(run, 'natsclusters')).toEqual(before);
  });
});
