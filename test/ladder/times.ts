// The cost of the rungs and their test files: the time that a person waits, and the time of the
// processors, which everybody pays at every change.

import { readFile } from 'node:fs/promises';
import type { RungName } from './rungs.ts';

/** As `noted.ts` writes it. */
export interface FileTime {
  readonly file: string;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  /** No test file, but processes whose time no parent of theirs is told: those of a cluster. */
  readonly isApart?: true;
}

interface RungTimes {
  readonly rung: RungName;
  readonly tookMs: number;
  readonly cpuSeconds: number;
  readonly files: readonly FileTime[];
}

/** The rest are cheap. */
const FILES_SHOWN_MAX = 40;

/** None when no test file came to its end. */
export async function readFileTimes(path: string): Promise<readonly FileTime[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as FileTime);
}

/** Time that the kernel has not added to that of the command of the rung. */
export const secondsApart = (files: readonly FileTime[]): number =>
  sum(files.filter(({ isApart }) => isApart).map(({ cpuSeconds }) => cpuSeconds));

/** `allMs` is what it took altogether: rungs are climbed beside each other. */
export function timesTable(outcomes: readonly RungTimes[], allMs: number): string {
  const rungs = outcomes.map(({ rung, tookMs, cpuSeconds, files }) => {
    const { length } = files.filter(({ isApart }) => isApart !== true);
    const count = length === 0 ? '' : `  ${length} files`;
    return row(tookMs / 1000, cpuSeconds, `${rung}${count}`);
  });
  const all = row(allMs / 1000, sum(outcomes.map(({ cpuSeconds }) => cpuSeconds)), 'all');
  const dearest = outcomes
    .flatMap(({ files }) => files)
    .toSorted((one, other) => other.cpuSeconds - one.cpuSeconds);
  const files = dearest.slice(0, FILES_SHOWN_MAX);
  const rest = dearest.slice(FILES_SHOWN_MAX);
  return [
    '',
    '    wall      CPU',
    ...rungs,
    all,
    '',
    ...files.map(({ file, wallSeconds, cpuSeconds }) => row(wallSeconds, cpuSeconds, file)),
    ...(rest.length === 0
      ? []
      : [
          row(
            sum(rest.map(({ wallSeconds }) => wallSeconds)),
            sum(rest.map(({ cpuSeconds }) => cpuSeconds)),
            `${rest.length} more files`,
          ),
        ]),
    '',
  ].join('\n');
}

const sum = (numbers: readonly number[]): number => numbers.reduce((so, one) => so + one, 0);

const row = (wallSeconds: number, cpuSeconds: number, name: string): string =>
  `${wallSeconds.toFixed(1).padStart(8)} ${cpuSeconds.toFixed(1).padStart(8)}  ${name}`;
