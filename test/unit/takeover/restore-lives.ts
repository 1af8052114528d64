// Lives of a takeover by snapshot and restore, whichever operator left the old etcd: what befalls
// it, and how it has to end.
import { expect } from 'vitest';
import type { Carrying, OldEtcd } from './carrying.ts';
import { expectConverged, expectSteps, type Life, usualLives } from './lives.ts';
import { at } from './others-at-work.ts';
import { namesOf, objectIn, replicasOf } from './takeover-run.ts';
import { DEPLOYMENTS } from './world.ts';

export function expectDone(run: Carrying): void {
  const { service, claims, steps } = run.old;
  expectSteps(run, steps);
  expect(namesOf(run, 'etcdclusters')).toEqual(['new']);
  expect(namesOf(run, 'services')).toEqual([service]);
  expect(run.led).toEqual({ 'ballast.dev/etcd-cluster': 'new' });
  expect(namesOf(run, 'statefulsets')).toEqual([]);
  expect(namesOf(run, 'pods')).toEqual(['new-0-0']);
  const made = ['data-new-0', `over-takeover-${run.status.work?.attempt}`];
  expect(namesOf(run, 'persistentvolumeclaims')).toEqual([...claims, ...made].toSorted());
}

function expectRolledBack(run: Carrying): void {
  const { pods, claims, selector } = run.old;
  expect(run.status.phase).toBe('RolledBack');
  expect(run.etcds.alarms).toEqual([]);
  expect(replicasOf(run)).toBe(1);
  expect(namesOf(run, 'etcdclusters')).toEqual(['old']);
  expect(namesOf(run, 'etcdbackups')).toEqual([]);
  expect(namesOf(run, 'etcdrestores')).toEqual([]);
  expect(namesOf(run, 'persistentvolumeclaims')).toEqual(claims);
  expect(namesOf(run, 'pods')).toEqual(pods);
  expect(run.led).toEqual(selector);
  expectServing(run);
}

/** The old cluster takes the writes of those whom the Service leads to it. */
function expectServing(run: Carrying): void {
  const before = run.etcds.old.size;
  run.tick();
  expect([...run.etcds.old.keys()].slice(before)).toEqual([
    expect.stringMatching(/^held/),
    expect.stringMatching(/^led/),
  ]);
}

/** Somebody ends the alarm, and writes, once this step is begun. */
export function forcedAt(step: string): Carrying['befalls'] {
  return (run) => {
    const { steps, work } = run.status;
    if (steps?.at(-1)?.name !== step || work?.attempt !== 1 || run.etcds.old.has('late')) return;
    run.etcds.alarms = [];
    run.force('late');
  };
}

/** The last moment in which nothing was led over. */
function forcedOnceNoted(run: Carrying): void {
  const { work } = run.status;
  const isLed = Object.hasOwn(run.led ?? {}, 'ballast.dev/etcd-cluster');
  if (isLed || work?.switchingAt === undefined || run.etcds.old.has('late')) return;
  run.etcds.alarms = [];
  run.force('late');
}

export const livesOf = ({ steps }: OldEtcd): readonly Life<Carrying>[] => [
  ...usualLives(steps, 'SwitchService', { expectDone, expectRolledBack }),
  ['is written to after the snapshot', forcedAt('MakeCluster'), expectDone],
  ['is written to just before clients are led over', forcedAt('SwitchService'), expectDone],
  ['is written to when it is noted that they are', forcedOnceNoted, expectDone],
];

/** Somebody starts the operator at this step, once and for all copies of the run by themselves. */
export const startedAt =
  (step: string, operate: Carrying['befalls']): Carrying['befalls'] =>
  (run) => {
    const { metadata } = objectIn(run, 'deployments/etcd-operator') ?? {};
    if (run.step === step && metadata?.annotations === undefined) {
      const annotations = { 'example.com/started': 'again' };
      const deployment = { metadata: { annotations }, spec: { replicas: 1 } };
      run.kube.change(DEPLOYMENTS, at('etcd-operator'), deployment);
    }
    operate(run);
  };

/** It is carried out, also where the process dies at any write. */
export async function expectDoneWithDeaths(run: Carrying): Promise<void> {
  const left = await run.deathsIn(() => expectConverged(run));
  expectDone(run);
  for (const one of left) {
    await expectConverged(one);
    expectDone(one);
  }
}
