// How long rungs and test files took when somebody last recorded it. The longest begin first, so
// that at the end none is left for which all others are over. `npm test -- --times` writes it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FileTime } from './times.ts';

export interface Recorded {
  readonly rungs: Readonly<Record<string, number>>;
  /** In seconds, by the path below `test`; the short ones are left out. */
  readonly files: Readonly<Record<string, number>>;
}

/** Their order makes no difference that one could see. */
const SHORT_SECONDS = 3;

const TESTS = resolve(import.meta.dirname, '..');
const PLACE = resolve(import.meta.dirname, 'recorded.json');

export const readRecorded = (): Recorded => JSON.parse(readFileSync(PLACE, 'utf8')) as Recorded;

interface TimedOutcome {
  readonly rung: string;
  readonly state: string;
  readonly tookMs: number;
  readonly files: readonly FileTime[];
}

export function record(outcomes: readonly TimedOutcome[]): void {
  const isThere = (file: string): boolean => existsSync(resolve(TESTS, file));
  const next = withTimes(readRecorded(), outcomes, isThere);
  writeFileSync(PLACE, `${JSON.stringify(next, undefined, 2)}\n`);
}

/** Rungs that were not climbed keep their times. */
export function withTimes(
  { rungs, files }: Recorded,
  outcomes: readonly TimedOutcome[],
  isThere: (file: string) => boolean,
): Recorded {
  const climbed = outcomes.filter(({ state }) => state === 'passed');
  const times = climbed.flatMap((outcome) => outcome.files);
  return {
    rungs: longestFirst(
      rungs,
      climbed.map(({ rung, tookMs }) => [rung, tookMs / 1_000]),
      () => true,
    ),
    files: longestFirst(
      files,
      times.map(({ file, wallSeconds }) => [file, wallSeconds]),
      ([file, seconds]) => seconds >= SHORT_SECONDS && isThere(file),
    ),
  };
}

type Time = readonly [name: string, seconds: number];

function longestFirst(
  old: Readonly<Record<string, number>>,
  times: readonly Time[],
  isKept: (time: Time) => boolean,
): Record<string, number> {
  const all = Object.entries({ ...old, ...Object.fromEntries(times) }).filter(isKept);
  const rounded = all.map(([name, seconds]) => [name, Math.round(seconds)] as const);
  return Object.fromEntries(
    rounded.toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)),
  );
}
