// Finds what a test file reads and is not known to reach: after a change of that it is left out.

import { reachOf } from '../inputs.ts';
import { Reach } from '../reach/reach.ts';
import { readRepository } from '../reach/repository.ts';
import { testFiles } from '../test-files.ts';
import { traced } from './traced.ts';

/** vitest reads them for itself. The settings of a project are told with each of its files. */
const OF_VITEST = new Set([
  'vitest.config.ts',
  'test/lanes.ts',
  'test/ladder/left-out.ts',
  'test/ladder/recorded.ts',
  'test/pure.ts',
]);

interface Reads {
  /** How many files it read. */
  readonly read: number;
  readonly unknown: readonly string[];
}

export async function unknownReads(test: string, root: string): Promise<Reads> {
  const file = testFiles().find(({ path }) => path === test);
  if (file === undefined) throw new Error(`vitest has no test file ${test}`);
  const reached = reachOf(file, new Reach(await readRepository(root, new Map())));
  const read = await traced(test);
  return {
    read: read.length,
    unknown: read.filter((path) => !reached.has(path) && !OF_VITEST.has(path)),
  };
}
