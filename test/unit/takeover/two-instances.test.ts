// Two instances of the function at one Takeover: while the one looks, or waits for the answer to
// what it has asked for, the other rolls it back. Nothing of what the first one does is left.
import { describe, expect, test } from 'vitest';
import { Carrying } from './carrying.ts';
import { beginChart } from './chart-world.ts';
import { JoinCarrying } from './join-carrying.ts';
import { NatsCarrying } from './nats-carrying.ts';
import { type AnyRun, namesOf, specIn, type TakeoverRun } from './takeover-run.ts';
import { WipeCarrying } from './wipe-carrying.ts';
import { PODS_OF_OLD } from './world.ts';

type Hook = (run: AnyRun, occurs: () => Promise<void>) => void;

interface Turned<Run> {
  /** The first one is at that when the other one begins. */
  readonly hook: Hook;
  readonly isTime: (run: Run) => boolean;
  /** How far the other one comes until the first goes on. */
  readonly work: (other: AnyRun) => Promise<unknown>;
}

async function turnedBack<Run extends TakeoverRun<Run>>(
  confirmed: () => Promise<Run>,
  { hook, isTime, work }: Turned<Run>,
): Promise<Run> {
  const run = await confirmed();
  const other = run.another();
  let isTurned = false;
  hook(run, async () => {
    if (isTurned || !isTime(run)) return;
    isTurned = true;
    run.edit({ rollback: true });
    await work(other);
  });
  await run.converge();
  expect([isTurned, run.status.phase]).toEqual([true, 'RolledBack']);
  return run;
}

const looks: Hook = (run, occurs) => {
  run.beforeAnswer = occurs;
};

const changes: Hook = (run, occurs) => {
  run.beforeChange = occurs;
};

const makes: Hook = ({ kube }, occurs) => {
  const create = kube.create.bind(kube);
  kube.create = async (ref, ...asked) => {
    if (['etcdclusters', 'natsclusters'].includes(ref.resource)) await occurs();
    return create(ref, ...asked);
  };
};

const leadsOver: Hook = ({ kube }, occurs) => {
  const patch = kube.patch.bind(kube);
  kube.patch = async (ref, ...asked) => {
    if (ref.resource === 'services') await occurs();
    return patch(ref, ...asked);
  };
};

const isAt =
  (step: string) =>
  (run: AnyRun): boolean =>
    run.step === step;

const toTheEnd = (other: AnyRun): Promise<unknown> => other.converge();
const oneSweep = (other: AnyRun): Promise<unknown> => other.sweep();
const someSweeps = (other: AnyRun): Promise<unknown> => other.converge(2);

describe('members that join', () => {
  const confirmed = () => JoinCarrying.confirmed();
  const membersOf = ({ etcd }: JoinCarrying) => etcd.members.map(({ name }) => name);
  const isToAdd = (run: JoinCarrying): boolean =>
    run.step === 'JoinMembers' && membersOf(run).length === PODS_OF_OLD.length;
  const hasAdded = (run: JoinCarrying): boolean => membersOf(run).length > PODS_OF_OLD.length;

  test.each([
    ['none is added by a look that began before it was rolled back', looks, toTheEnd],
    ['one that is added when it is being rolled back leaves', changes, oneSweep],
  ])('%s', async (_, hook, work) => {
    const run = await turnedBack(confirmed, { hook, isTime: isToAdd, work });
    expect(membersOf(run)).toEqual(PODS_OF_OLD);
  });

  test('an EtcdCluster that is made when it is being rolled back is deleted', async () => {
    const run = await turnedBack(confirmed, { hook: makes, isTime: hasAdded, work: oneSweep });
    expect([membersOf(run), namesOf(run, 'etcdclusters')]).toEqual([PODS_OF_OLD, ['old']]);
  });
});

test('an empty EtcdCluster that is made when it is being rolled back is deleted', async () => {
  const turned = { hook: makes, isTime: isAt('MakeCluster'), work: oneSweep };
  const run = await turnedBack(() => WipeCarrying.confirmed(), turned);
  expect(namesOf(run, 'etcdclusters')).toEqual(['old']);
  expect(namesOf(run, 'persistentvolumeclaims')).toEqual(['old-b', 'old-c']);
});

test.each([
  ['are not stopped by a look that began before it was rolled back', looks, toTheEnd],
  ['that are stopped when it is being rolled back go on', changes, oneSweep],
])('a snapshot that is restored: writers %s', async (_, hook, work) => {
  const turned = { hook, isTime: isAt('FreezeWriters'), work };
  const run = await turnedBack(() => Carrying.confirmed(), turned);
  expect(run.etcds.alarms).toEqual([]);
});

describe.each([
  ['the chart', () => NatsCarrying.confirmed(() => beginChart())],
  ['the NATS operator', () => NatsCarrying.confirmed()],
] as const)('a NATS of %s', (_, confirmed) => {
  test('clients that are led over when it has been rolled back are led back', async () => {
    const { selector } = specIn(await confirmed(), 'services/old');
    const turned = { hook: leadsOver, isTime: isAt('SwitchService'), work: someSweeps };
    const run = await turnedBack(confirmed, turned);
    expect(specIn(run, 'services/old').selector).toEqual(selector);
  });

  test('a NatsCluster that is made when it is being rolled back is deleted', async () => {
    const before = namesOf(await confirmed(), 'natsclusters');
    const turned = { hook: makes, isTime: isAt('MakeCluster'), work: someSweeps };
    const run = await turnedBack(confirmed, turned);
    expect(namesOf(run, 'natsclusters')).toEqual(before);
  });
});
