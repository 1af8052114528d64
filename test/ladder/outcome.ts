// How rungs are climbed, and what becomes of one.

import type { Passed } from './passed.ts';
import type { RungName } from './rungs.ts';
import type { FileTime } from './times.ts';

export interface Outcome {
  readonly rung: RungName;
  readonly state: 'passed' | 'unchanged' | 'failed' | 'left out';

  readonly passed: number;
  readonly failed: number;
  readonly tookMs: number;
  readonly cpuSeconds: number;
  readonly notes: readonly string[];
  /** Times of the files of a rung of tests; in no order. */
  readonly files: readonly FileTime[];
  /** Test files that passed, from the top of the repository; or the rung itself. */
  readonly passedFiles: readonly string[];
  /** Test files, or the rung itself, of which nothing that they reach has changed. */
  readonly unchanged: readonly string[];
}

export interface Climb {
  readonly signal: AbortSignal;
  /** With one, the rungs are climbed one after the other. */
  readonly slots: number;
  /** Where it is remembered what passed; undefined where nobody asks for it again. */
  readonly passed?: Passed;
  /** Files and rungs that passed with the same inputs are left out, which is no failure. */
  readonly onlyChanged?: boolean;
  print(text: string): void;
}
