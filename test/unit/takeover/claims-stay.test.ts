// Claims of the old members stay, whatever owns them, whichever label they lack, and however many
// there are: nothing is deleted with which one would go.
import { expect, test } from 'vitest';
import { CLAIMS, PODS } from '../../../shared/stateful/parts.ts';
import { IMPROBABLE_PEERS } from '../../builders/legacy-improbable.ts';
import { Carrying } from './carrying.ts';
import { IMPROBABLE, leaveImprobable } from './improbable-world.ts';
import { JoinCarrying } from './join-carrying.ts';
import { expectConverged, onceAt } from './lives.ts';
import { at } from './others-at-work.ts';
import { type AnyRun, namesOf, objectIn } from './takeover-run.ts';
import { WipeCarrying } from './wipe-carrying.ts';
import { begin, plan, refusal, refusals, world } from './world.ts';

const MANY = 45;
const STEPS_MAX = 80;

const claimOf = (run: AnyRun, name: string) => objectIn(run, `persistentvolumeclaims/${name}`);

/** As builds of October 2019 made it: it goes with the EtcdPeer of its name; or with another. */
function belongToPeer({ kube }: Pick<AnyRun, 'kube'>, resource = 'etcdpeers'): void {
  const found = objectIn({ kube }, `${resource}/old-0`);
  if (found === undefined) throw new Error('it has no owner');
  const { apiVersion, kind, metadata } = found;
  const owner = { apiVersion, kind, name: 'old-0', uid: metadata.uid };
  kube.change(CLAIMS, at('old-0'), { metadata: { ownerReferences: [owner] } });
}

test.each([
  ['EtcdPeer', 'etcdpeers'],
  ['ReplicaSet', 'replicasets'],
])('a claim that goes with its %s is refused', async (owner, resource) => {
  leaveImprobable();
  belongToPeer(world, resource);
  expect(await refusal()).toContain(`old-0 with ${owner} old-0.`);
  expect(await refusals()).toEqual(['ClaimsGo']);
  const { objects } = await plan();
  const { why } = objects.find(({ kind, name }) => /Claim/.test(kind) && name === 'old-0') ?? {};
  expect(why).toBe(`Belongs to ${owner} old-0, with which it would go.`);
});

test.each(['Snapshot', 'SwitchService', 'DeleteLegacy'])(
  'a claim that belongs to an EtcdPeer from %s on keeps the old object',
  async (step) => {
    const run = await Carrying.confirmed(IMPROBABLE);
    run.befalls = () => {
      if (run.step === step && claimOf(run, 'old-0')?.metadata.ownerReferences === undefined)
        belongToPeer(run);
    };
    expect(await run.converge(STEPS_MAX)).toBe(false);
    expect(run.condition()).toBe('True ClaimsGo');
    expect(namesOf(run, 'etcdclusters')).toContain('old');
    run.befalls = () => undefined;
    run.kube.change(CLAIMS, at('old-0'), { metadata: { ownerReferences: null } });
    await expectConverged(run);
    expect(claimOf(run, 'old-0')).toBeDefined();
  },
);

test('a claim without a label and a pod is found by the EtcdPeer with which it goes', async () => {
  leaveImprobable();
  belongToPeer(world);
  world.kube.change(CLAIMS, at('old-0'), { metadata: { labels: null } });
  for (const [, { metadata }] of world.kube.of('pods')) world.kube.remove(PODS, at(metadata.name));
  expect(await refusal()).toMatch(/ClaimsGo: .*old-0 with EtcdPeer old-0\./);
  expect(world.kube.of(IMPROBABLE_PEERS.resource).size).toBe(IMPROBABLE.pods.length);
});

function putMany(run: AnyRun): void {
  const found = claimOf(run, 'old-c');
  if (found === undefined) throw new Error('a claim is gone');
  for (let count = 0; count < MANY; count += 1) {
    run.kube.put(CLAIMS, { ...found, metadata: { ...found.metadata, ...at(`old-d-${count}`) } });
  }
}

async function expectCounted(run: AnyRun): Promise<void> {
  run.befalls = onceAt('SwitchService', () => putMany(run));
  expect(await run.converge(STEPS_MAX)).toBe(false);
  expect(run.condition()).toBe('True TooMany');
  expect(namesOf(run, 'etcdclusters')).toEqual(['new', 'old']);
}

test('Restore: claims beyond those that are told of keep the old object', async () => {
  await expectCounted(await Carrying.confirmed());
});

test('Join: claims beyond those that are told of keep the old object', async () => {
  await expectCounted(await JoinCarrying.confirmed());
});

test('Wipe: a claim without a label and a pod before the plan is told and kept', async () => {
  const start = (): void => {
    begin();
    world.kube.remove(PODS, at('old-b'));
    world.kube.change(CLAIMS, at('old-b'), { metadata: { labels: null } });
  };
  const run = await WipeCarrying.confirmed({ start });
  const told = run.status.plan?.objects.filter(({ kind }) => kind === 'PersistentVolumeClaim');
  expect(told?.map(({ name }) => name)).toEqual(expect.arrayContaining(['old-b', 'old-c']));
  await expectConverged(run);
  expect(claimOf(run, 'old-b')?.metadata.ownerReferences).toBeUndefined();
  expect(claimOf(run, 'old-b')).toBeDefined();
});
