// One project per rung of the ladder, and one per lane of files: unit needs nothing, contract and
// integration need real parts. The bounds are for a loaded machine; a test that meets one hangs.

import { relative, resolve } from 'node:path';
import { defineConfig, type UserWorkspaceConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { leftOutFiles } from './test/ladder/left-out.ts';
import { readRecorded } from './test/ladder/recorded.ts';
import { type Lane, lanes } from './test/lanes.ts';
import { pureTests } from './test/pure.ts';

/** What is awaited comes at once; a second was too short where other work had the cores. */
const POLL_TIMEOUT_MS = 15_000;

type ProjectConfig = NonNullable<UserWorkspaceConfig['test']>;

const SETUP_FILES = ['test/ladder/note-times.ts'];

const FOR_PROGRAMS = {
  /**
   * kubectl keeps for hours, by port, what an API server serves. Planes take ports that others had,
   * and versions come and go on one: it would ask for what is not there.
   */
  KUBECACHEDIR: '/dev/null',
  /** Go programs that live for a second, kubectl and helm: a fifth less CPU. */
  GOGC: '400',
};

const leftOut = leftOutFiles();

const tier = (name: string, timeoutMs: number, { exclude = [], ...more }: ProjectConfig = {}) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    setupFiles: SETUP_FILES,
    env: FOR_PROGRAMS,
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    expect: { poll: { timeout: POLL_TIMEOUT_MS } },
    exclude: [...exclude, ...leftOut],
    ...more,
  },
});

const UNIT_TIMEOUT_MS = 10_000;
const REAL_TIMEOUT_MS = 120_000;

const SETUPS: Readonly<Record<Lane['has'], string>> = {
  nothing: 'test/lanes/global-setup.ts',
  manifests: 'test/lanes/manifests/global-setup.ts',
  conversion: 'test/lanes/converting/global-setup.ts',
};

const lane = ({ name, include, has }: Lane, index: number) =>
  tier(name, REAL_TIMEOUT_MS, {
    include: [...include],
    setupFiles: [...SETUP_FILES, 'test/lanes/put-back.ts'],
    globalSetup: SETUPS[has],
    fileParallelism: false,
    // In one run of vitest projects with so many workers each have to go one after another.
    sequence: { groupOrder: index + 1 },
  });

const pure = [...pureTests(import.meta.dirname)];
const inLanes = lanes.flatMap(({ include }) => include);

/**
 * Tests on real parts wait for most of their time: for servers that come up, and for sweeps. Beside
 * each other they keep two cores busy, and each brings its own servers.
 */
const FILES_AT_ONCE = 3;

/** It changes what Knative asks of senders, on the cluster that all files of its rung share. */
const LAST = 'cluster/knative/senders.test.ts';

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is vitest's own
    const others = await super.sort(files);
    return others.toSorted((one, other) => rank(one.moduleId) - rank(other.moduleId));
  }
}

const { files: recorded } = readRecorded();

function rank(path: string): number {
  const file = relative(resolve(import.meta.dirname, 'test'), path);
  return file === LAST ? 1 : -(recorded[file] ?? 0);
}

export default defineConfig({
  test: {
    maxWorkers: FILES_AT_ONCE,
    sequence: { sequencer: LongestFirst },
    projects: [
      // Without isolation, too, one in five runs had a file that found `node:tls` without its
      // functions, and nothing of ours had changed it.
      tier('unit', UNIT_TIMEOUT_MS, { exclude: pure }),
      tier('pure', UNIT_TIMEOUT_MS, { include: pure, isolate: false }),
      tier('contract', REAL_TIMEOUT_MS, { exclude: inLanes }),
      tier('integration', REAL_TIMEOUT_MS, { exclude: inLanes }),
      ...lanes.map(lane),
      tier('cluster', 180_000, {
        exclude: ['test/cluster/knative/**'],
        globalSetup: 'test/cluster/support/global-setup.ts',
        // One drains a node where another wants its servers on three.
        fileParallelism: false,
      }),
      tier('knative', 180_000, {
        include: ['test/cluster/knative/**/*.test.ts'],
        globalSetup: 'test/cluster/knative/support/global-setup.ts',
        // One changes what Knative asks of all senders.
        fileParallelism: false,
      }),
    ],
  },
});
