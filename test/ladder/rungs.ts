// The rungs of the ladder, from the cheapest to the dearest, and how each one is climbed.

import { lanes } from '../lanes.ts';

export type RungName =
  | 'types'
  | 'lint'
  | 'bundles'
  | 'parts'
  | 'unit'
  | 'contract'
  | 'integration'
  | 'node'
  | 'cluster'
  | 'knative';

export interface Rung {
  readonly name: RungName;
  readonly title: string;
  /** Run one after the other; all have to succeed. */
  readonly commands: readonly (readonly string[])[];
  /** A run that takes longer hangs: it is ended and counts as failed. */
  readonly boundMs: number;
  /** Rungs that must have passed, or this one is left out. */
  readonly needs: readonly RungName[];
  /** `tests` counts each vitest test, `one` counts the rung as a whole. */
  readonly counts: 'one' | 'tests';
  /** Long rungs show their output as it comes, short ones only when they fail. */
  readonly shows: 'always' | 'on failure';
  /** It asks what a machine has, which is no fault of the code; else it says `cannotBeHadCode`. */
  readonly isAboutMachine?: boolean;
}

/** How a rung says that this machine has neither what it asks for nor the means to get it. */
export const cannotBeHadCode = 3;

const minuteMs = 60_000;
/** Checks that take seconds; the bound leaves room for a machine ten times as slow. */
const checkBoundMs = 5 * minuteMs;
/** A cold build of the real parts took twelve minutes on two cores. */
const partsBoundMs = 60 * minuteMs;
/** The longest takes some ten minutes on two cores. */
const realBoundMs = 30 * minuteMs;

const check = (
  name: RungName,
  title: string,
  ...commands: readonly (readonly string[])[]
): Rung => ({
  name,
  title,
  commands,
  boundMs: checkBoundMs,
  needs: [],
  counts: 'one',
  shows: 'on failure',
});

/** Of files on whole clusters: beside each other they would only wait for two cores. */
const oneByOne = ['--no-file-parallelism'];
const isOneByOne = (name: RungName): boolean => name === 'cluster' || name === 'knative';

const laneNames = (of: RungName): readonly string[] =>
  lanes.filter(({ rung }) => rung === of).map((lane) => lane.name);

const tests = (
  name: RungName,
  title: string,
  boundMs: number,
  needs: readonly RungName[],
): Rung => ({
  name,
  title,
  commands: [
    [
      'vitest',
      'run',
      ...[name, ...laneNames(name)].flatMap((one) => ['--project', one]),
      ...(isOneByOne(name) ? oneByOne : []),
    ],
  ],
  boundMs,
  needs,
  counts: 'tests',
  shows: 'always',
});

const machine = (name: 'parts' | 'node', title: string, needs: readonly RungName[]): Rung => ({
  name,
  title,
  commands: [['node', `test/ladder/${name}.ts`]],
  boundMs: partsBoundMs,
  needs,
  counts: 'one',
  shows: 'always',
  isAboutMachine: true,
});

export const rungs: readonly Rung[] = [
  check('types', 'the compiler on every file', ['tsc', '--noEmit']),
  check(
    'lint',
    'type-aware lint and format',
    ['oxlint', '--deny-warnings'],
    ['oxfmt', '--check', '.'],
  ),
  check('bundles', 'each function as it ships', ['node', 'knative/build/main.ts']),
  machine('parts', 'the real etcd, kube-apiserver and the rest, found or built', []),
  tests('unit', 'pure parts, small servers, and the tidy rules', checkBoundMs, []),
  tests('contract', "Knative's rules against its real adapter", realBoundMs, ['parts']),
  tests('integration', 'the real control plane', realBoundMs, ['bundles', 'parts']),
  machine('node', 'root, namespaces, cgroups; kubelet, containerd and the rest', ['parts']),
  tests('cluster', 'real nodes and pods', realBoundMs, ['node']),
  tests('knative', 'the functions on real Knative', realBoundMs, ['bundles', 'node']),
];
