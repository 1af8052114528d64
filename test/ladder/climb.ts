// Climbs the chosen rungs one after the other and says of each what became of it.
// One after the other: types, lint and unit tests together took 10.2 s instead of 10.7 s on two
// cores, which is not worth mixing what they say.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ended } from './command.ts';
import { runCommand } from './command.ts';
import { readCounts } from './counts.ts';
import { processorSeconds } from './processor.ts';
import type { Rung, RungName } from './rungs.ts';
import { cannotBeHadCode } from './rungs.ts';
import { type FileTime, readFileTimes } from './times.ts';

export interface Outcome {
  readonly rung: RungName;
  readonly state: 'passed' | 'failed' | 'left out';
  readonly passed: number;
  readonly failed: number;
  readonly tookMs: number;
  readonly cpuSeconds: number;
  readonly notes: readonly string[];
  /** Of a rung of tests; in no order. */
  readonly files: readonly FileTime[];
}

export interface Climb {
  readonly signal: AbortSignal;
  say(text: string): void;
}

export async function climb(chosen: readonly Rung[], by: Climb): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const rung of chosen) {
    if (by.signal.aborted) break;
    const missing = rung.needs.find((need) => stateOf(need, outcomes) !== 'passed');
    const outcome =
      missing === undefined
        ? await climbOne(rung, by)
        : leftOut(rung.name, 0, `it needs ${missing}, which ${became(missing, outcomes)}`);
    outcomes.push(outcome);
    by.say(line(outcome));
  }
  return outcomes;
}

const stateOf = (name: RungName, outcomes: readonly Outcome[]): Outcome['state'] | undefined =>
  outcomes.find((outcome) => outcome.rung === name)?.state;

const became = (name: RungName, outcomes: readonly Outcome[]): string =>
  stateOf(name, outcomes) === 'left out' ? 'was left out' : 'failed';

const leftOut = (rung: RungName, tookMs: number, why: string): Outcome => ({
  rung,
  state: 'left out',
  passed: 0,
  failed: 0,
  tookMs,
  cpuSeconds: 0,
  notes: [why],
  files: [],
});

async function climbOne(rung: Rung, by: Climb): Promise<Outcome> {
  const startedMs = performance.now();
  const since = (): number => performance.now() - startedMs;
  const cpuBefore = processorSeconds();
  const scratch = await mkdtemp(join(tmpdir(), 'ballast-ladder-'));
  try {
    const report = join(scratch, 'report.json');
    const times = join(scratch, 'times.jsonl');
    let ended: Ended = { how: 'exit', code: 0, output: '' };
    for (const command of rung.commands) {
      ended = await runCommand(rung.counts === 'tests' ? reporting(command, report) : command, {
        boundMs: rung.boundMs,
        signal: by.signal,
        env: { BALLAST_TIMES: times },
        ...(rung.shows === 'always' ? { onOutput: (text: string) => by.say(text) } : {}),
      });
      if (ended.code !== 0 || ended.how !== 'exit') break;
    }
    if (ended.how === 'exit' && ended.code === cannotBeHadCode && rung.isAboutMachine === true) {
      return leftOut(rung.name, since(), 'this machine does not have it and cannot get it');
    }
    const good = ended.how === 'exit' && ended.code === 0;
    if (!good && rung.shows === 'on failure') by.say(ended.output);
    const late = ended.how === 'too long' ? [`ended after ${rung.boundMs / 1000} s: it hung`] : [];
    const counts =
      rung.counts === 'tests'
        ? await readCounts(report, good ? 0 : 1)
        : { passed: good ? 1 : 0, failed: good ? 0 : 1, notes: [] };
    const state = counts.failed === 0 ? 'passed' : 'failed';
    return {
      ...counts,
      rung: rung.name,
      state,
      tookMs: since(),
      cpuSeconds: processorSeconds() - cpuBefore,
      notes: [...late, ...counts.notes],
      files: await readFileTimes(times),
    };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const reporting = (command: readonly string[], report: string): readonly string[] => [
  ...command,
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
];

function line(outcome: Outcome): string {
  const { rung, state, passed, failed, tookMs, cpuSeconds, notes } = outcome;
  const tests = passed + failed > 1 ? `, ${passed} passed, ${failed} failed` : '';
  const took = `${(tookMs / 1000).toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s`;
  const head = `${rung.padEnd(12)} ${state} (${took}${tests})\n`;
  return head + notes.map((note) => `${' '.repeat(13)}${note}\n`).join('');
}

/** The ladder's last word. Where nobody looks, a rung that was left out must not pass for done. */
export function total(outcomes: readonly Outcome[], strict: boolean): string {
  const leftOutCount = outcomes.filter((outcome) => outcome.state === 'left out').length;
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0);
  return `${passed} passed, ${failed + (strict ? leftOutCount : 0)} failed`;
}
