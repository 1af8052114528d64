// Climbs one rung: runs its commands, shows what they print, and counts.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { type Ended, runCommand } from './command.ts';
import { type Counts, readCounts } from './counts.ts';
import { leavingOut } from './left-out.ts';
import type { Climb, Outcome } from './outcome.ts';
import type { Rung } from './rungs.ts';
import { cannotBeHadCode } from './rungs.ts';
import { readFileTimes, secondsApart } from './times.ts';
import { Voice } from './voice.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** With this vitest begins to tell of what no test is to blame for. */
const OUTSIDE_OF_TESTS = /Unhandled (?:Error|Rejection)/;

export interface Climbed {
  readonly outcome: Outcome;
  /** To be shown whole, right before what became of the rung. */
  readonly said: string;
}

export interface ClimbOne extends Climb {
  /** Width of the names before each line; undefined where no other rung prints. */
  readonly prefixWidth: number | undefined;
  /** Test files to be left out. */
  readonly unchanged?: readonly string[];
}

export async function climbOne(rung: Rung, by: ClimbOne): Promise<Climbed> {
  const startedMs = performance.now();
  const scratch = await mkdtemp(join(tmpdir(), 'ballast-ladder-'));
  try {
    const report = join(scratch, 'report.json');
    const times = join(scratch, 'times.jsonl');
    const voice = new Voice(rung, by);
    const { how, code, cpuSeconds, isSure } = await runAll(rung, by, { report, times, voice });
    const files = await readFileTimes(times);
    const spent = {
      rung: rung.name,
      tookMs: performance.now() - startedMs,
      cpuSeconds: cpuSeconds + secondsApart(files),
    };
    if (how === 'exit' && code === cannotBeHadCode && rung.isAboutMachine === true) {
      const notes = ['this machine does not have it and cannot get it'];
      const outcome = { ...spent, state: 'left out', passed: 0, failed: 0, notes } as const;
      const none = { files: [], passedFiles: [], unchanged: [] };
      return { outcome: { ...outcome, ...none }, said: voice.end('left out') };
    }
    const good = how === 'exit' && code === 0;
    const late = how === 'too long' ? [`ended after ${rung.boundMs / 1000} s: it hung`] : [];
    const counts =
      rung.counts === 'tests' ? await readCounts(report, good ? 0 : 1) : countOne(rung, good);
    const state = counts.failed === 0 ? 'passed' : 'failed';
    const notes = [...late, ...counts.notes];
    // An error outside of tests may be that of a file which passed.
    const passedFiles = isSure ? counts.passedFiles.map(fromTop) : [];
    const outcome: Outcome = {
      ...counts,
      ...spent,
      state,
      notes,
      files,
      passedFiles,
      unchanged: [],
    };
    return { outcome, said: voice.end(state) };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function countOne({ name }: Rung, good: boolean): Counts {
  const counts = { passed: good ? 1 : 0, failed: good ? 0 : 1, notes: [] };
  return { ...counts, passedFiles: good ? [name] : [] };
}

const fromTop = (path: string): string => (isAbsolute(path) ? relative(ROOT, path) : path);

interface Places {
  readonly report: string;
  readonly times: string;
  readonly voice: Voice;
}

/** Up to the first command that fails. */
async function runAll(
  rung: Rung,
  by: ClimbOne,
  { report, times, voice }: Places,
): Promise<Ended & { readonly isSure: boolean }> {
  let isSure = true;
  let last = '';
  let ended: Ended = { how: 'exit', code: 0, cpuSeconds: 0 };
  for (const command of rung.commands) {
    const before = ended.cpuSeconds;
    ended = await runCommand(rung.counts === 'tests' ? reporting(command, report) : command, {
      boundMs: rung.boundMs,
      signal: by.signal,
      env: { BALLAST_TIMES: times, ...rung.env, ...leavingOut(by.unchanged ?? []) },
      onOutput: (text) => {
        isSure &&= !OUTSIDE_OF_TESTS.test(last + text);
        last = text.slice(-OUTSIDE_OF_TESTS.source.length);
        voice.take(text);
      },
    });
    ended = { ...ended, cpuSeconds: ended.cpuSeconds + before };
    if (ended.code !== 0 || ended.how !== 'exit') break;
  }
  return { ...ended, isSure };
}

const reporting = (command: readonly string[], report: string): readonly string[] => [
  ...command,
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
];
