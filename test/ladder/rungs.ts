// The rungs of the ladder, from the cheapest to the dearest, and how each one is climbed.

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import {
  knativePartNames,
  nodePartNames,
  planePartNames,
} from '../../knative/try/local/parts/catalog.ts';
import type { PartName } from '../../knative/try/local/parts/part-entry.ts';
import { type Lane, lanes } from '../lanes.ts';

export type RungName =
  | 'types'
  | 'lint'
  | 'bundles'
  | 'parts'
  | 'unit'
  | 'contract'
  | 'integration'
  | `${Lane['rung']}:${string}`
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
  /** How many of the machine's slots it takes. */
  readonly slots: number;
  /** `tests` counts each vitest test, `one` counts the rung as a whole. */
  readonly counts: 'one' | 'tests';
  /** Long rungs show their output as it comes, short ones only when they fail. */
  readonly shows: 'always' | 'on failure';
  /** vitest has them. `--changed` leaves out their files that passed with all that they reach. */
  readonly projects?: readonly string[];
  /**
   * It reaches all files: `--changed` leaves it out when it passed with all of them as they are. A
   * rung that has neither this nor test files is always climbed.
   */
  readonly isOfAll?: boolean;
  /** The binaries that its tests start. */
  readonly parts?: readonly PartName[];
  /** Settings for its commands, and for what they start. */
  readonly env?: Readonly<Record<string, string>>;
  /** It asks what a machine has, which is no fault of the code; else it says `cannotBeHadCode`. */
  readonly isAboutMachine?: boolean;
}

/** How a rung says that this machine has neither what it asks for nor the means to get it. */
export const cannotBeHadCode = 3;

/**
 * Node keeps what it has compiled, for the next process: many small ones do the same. A bundle has
 * such a cache of its own, so tests of what is shipped go without.
 */
const KEEPS_COMPILED = {
  NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../../node_modules/.cache/ballast/compiled'),
};
/** The compiler and the linter are Go: a sixth less CPU, in the same memory. */
const FOR_GO_PROGRAMS = { GOGC: '400' };

const cores = availableParallelism();
/** Tests on real parts wait for servers and sweeps: more at once keep all cores busy. */
export const machineSlots = cores + 1.5;
/** Files of a lane come one after another, and use a third of a core while they wait. */
const LANE_SLOTS = 0.5;

const minuteMs = 60_000;
/** Checks that take seconds; the bound leaves room for a machine ten times as slow. */
const checkBoundMs = 5 * minuteMs;
/** A cold build of the real parts took twelve minutes on two cores. */
const partsBoundMs = 60 * minuteMs;
/** The longest takes some 25 minutes beside the others on two cores, and took 43 on slower ones. */
const realBoundMs = 60 * minuteMs;

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
  slots: 1,
  counts: 'one',
  shows: 'on failure',
});

interface TestsOf extends Partial<Rung> {
  /** Files at once. */
  readonly workers?: number;
}

const tests = (
  name: RungName,
  title: string,
  needs: readonly RungName[],
  { projects = [name], slots = 1, workers = Math.ceil(slots), ...more }: TestsOf = {},
): Rung => ({
  name,
  title,
  commands: [
    ['vitest', 'run', ...projects.map((one) => `--project=${one}`), `--maxWorkers=${workers}`],
  ],
  boundMs: realBoundMs,
  needs,
  slots,
  counts: 'tests',
  shows: 'always',
  projects,
  ...more,
});

const machine = (name: 'parts' | 'node', title: string, needs: readonly RungName[]): Rung => ({
  name,
  title,
  commands: [['node', `test/ladder/${name}.ts`]],
  boundMs: partsBoundMs,
  needs,
  slots: 1,
  counts: 'one',
  shows: 'always',
  isAboutMachine: true,
});

const ofPlane = { parts: planePartNames };
const ofNodes = { parts: [...planePartNames, ...nodePartNames, ...knativePartNames] };

/** Asked for a rung, the ladder climbs its lanes too. */
const lane = ({ rung, name, parts }: Lane): Rung =>
  tests(`${rung}:${name}`, `files that share one ${parts.join(', ')}`, ['bundles', 'parts'], {
    projects: [name],
    slots: LANE_SLOTS,
    ...ofPlane,
  });

const LINT = [
  ['oxlint', '--deny-warnings'],
  ['oxfmt', '--check', '.'],
] as const;

export const rungs: readonly Rung[] = [
  {
    ...check(
      'types',
      'the compiler on every file',
      ['tsc', '--noEmit'],
      ['tsc', '--noEmit', '-p', 'functions/console/page'],
    ),
    isOfAll: true,
    env: FOR_GO_PROGRAMS,
  },
  {
    ...check('lint', 'type-aware lint and format', ...LINT),
    isOfAll: true,
    env: FOR_GO_PROGRAMS,
  },
  check('bundles', 'each function as it ships', ['node', 'knative/tools/build/main.ts']),
  machine('parts', 'the real etcd, kube-apiserver and the rest, found or built', []),
  tests('unit', 'pure parts, small servers, and the tidy rules', [], {
    projects: ['unit', 'pure'],
    workers: cores,
    env: KEEPS_COMPILED,
  }),
  tests('contract', "Knative's rules against its real adapter", ['parts'], ofPlane),
  // With one slot, beside both clusters and a lane, its tests met their bounds; and so they did
  // with one more file at once than slots: each waits for two thirds of its time.
  tests('integration', 'the real control plane', ['bundles', 'parts'], {
    slots: cores,
    workers: cores + 1,
    ...ofPlane,
  }),
  ...lanes.map(lane),
  machine('node', 'root, namespaces, cgroups; kubelet, containerd and the rest', ['parts']),
  tests('cluster', 'real nodes and pods', ['node'], ofNodes),
  tests('knative', 'the functions on real Knative', ['bundles', 'node'], ofNodes),
];
