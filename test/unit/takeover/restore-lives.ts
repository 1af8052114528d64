// Lives of a takeover by snapshot and restore, whichever operator left the old etcd: what befalls
// it, and how it has to end.
import { expect } from 'vitest';
import { type Carrying, COPYING, type OldEtcd, replicasOf } from './carrying.ts';
import { backAt, backJustBefore, backTooLate, type Life } from './lives.ts';
import { namesOf } from './takeover-run.ts';

export function expectDone(run: Carrying): void {
  const { service, claims, steps: all } = run.old;
  const { phase, steps = [], work } = run.status;
  expect([phase, steps.map(({ name }) => name)]).toEqual(['Done', all]);
  expect(steps.every(({ doneAt }) => doneAt !== undefined)).toBe(true);
  expect(namesOf(run, 'etcdclusters')).toEqual(['new']);
  expect(namesOf(run, 'services')).toEqual([service]);
  expect(run.led).toEqual({ 'ballast.dev/etcd-cluster': 'new' });
  expect(namesOf(run, 'statefulsets')).toEqual([]);
  expect(namesOf(run, 'pods')).toEqual(['new-0-0']);
  const made = ['data-new-0', `over-takeover-${work?.attempt}`];
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
  ['is carried out', () => undefined, expectDone],
  ['is written to after the snapshot', forcedAt('MakeCluster'), expectDone],
  ['is written to just before clients are led over', forcedAt('SwitchService'), expectDone],
  ['is written to when it is noted that they are', forcedOnceNoted, expectDone],
  ...steps
    .filter((step) => COPYING.includes(step))
    .map((step): Life<Carrying> => [`is rolled back at ${step}`, backAt(step), expectRolledBack]),
  [
    'is rolled back just before clients are led over',
    backJustBefore('SwitchService'),
    expectRolledBack,
  ],
  ['is to be rolled back after that, and goes on', backTooLate, expectDone],
];
