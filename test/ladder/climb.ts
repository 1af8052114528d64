// Climbs the chosen rungs beside each other, as far as the machine has slots and what they need has
// passed, and says of each what became of it.

import { climbOne, type ClimbOne, type Climbed } from './climb-one.ts';
import type { Climb, Outcome } from './outcome.ts';
import type { Rung, RungName } from './rungs.ts';

/**
 * The first of the rungs that can begin does, and none passes one that waits for room: else a large
 * one would begin when all small ones are over, and end alone. The outcomes stand in the same
 * order.
 */
export async function climb(chosen: readonly Rung[], by: Climb): Promise<Outcome[]> {
  const waiting = new Set(chosen);
  const running = new Map<Rung, Promise<void>>();
  const outcomes: Outcome[] = [];
  const end = ({ outcome, said }: Climbed): void => {
    outcomes.push(outcome);
    by.print(said + line(outcome));
  };
  const nameWidth = Math.max(...chosen.map(({ name }) => name.length));
  const prefixWidth = by.slots > 1 && chosen.length > 1 ? nameWidth : undefined;
  const begin = (rung: Rung): void => {
    const climbing = climbOrKnow(rung, { ...by, prefixWidth }).then(end);
    running.set(
      rung,
      climbing.finally(() => running.delete(rung)),
    );
  };
  while (!by.signal.aborted) {
    for (const rung of waiting) {
      const turn = turnOf(rung, { outcomes, running: [...running.keys()], slots: by.slots });
      if (turn === 'no room') break;
      if (turn === 'later') continue;
      waiting.delete(rung);
      if (turn === 'now') begin(rung);
      else end({ outcome: leftOut(rung.name, turn), said: '' });
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  await Promise.all(running.values());
  return chosen.flatMap(({ name }) => outcomes.filter(({ rung }) => rung === name));
}

interface Standing {
  readonly outcomes: readonly Outcome[];
  readonly running: readonly Rung[];
  readonly slots: number;
}

/** Or why the rung is left out. */
function turnOf(rung: Rung, { outcomes, running, slots }: Standing): string {
  const needed = rung.needs.map((need) => outcomes.find((outcome) => outcome.rung === need));
  const missing = needed.find((outcome) => outcome !== undefined && !isGood(outcome));
  if (missing !== undefined) {
    const became = missing.state === 'left out' ? 'was left out' : 'failed';
    return `it needs ${missing.rung}, which ${became}`;
  }
  if (needed.includes(undefined)) return 'later';
  const slotsUsed = running.reduce((sum, one) => sum + one.slots, 0);
  // A rung that wants more than the machine has is climbed alone.
  const fits = slotsUsed === 0 || slotsUsed + rung.slots <= slots;
  return fits ? 'now' : 'no room';
}

const isGood = ({ state }: Outcome): boolean => state === 'passed' || state === 'unchanged';

/** Climbs it but for what passed with the same inputs, when only what changed is asked for. */
async function climbOrKnow(rung: Rung, by: ClimbOne): Promise<Climbed> {
  const { passed, onlyChanged = false } = by;
  if (passed === undefined) return climbOne(rung, by);
  const inputs = await passed.inputs(rung);
  const unchanged = onlyChanged ? passed.unchanged(inputs) : [];
  const files = { all: inputs.size, unchanged: unchanged.length };
  if (inputs.size > 0 && unchanged.length === inputs.size) {
    const notes = [unchangedNote(rung, files)];
    const outcome = { ...leftOut(rung.name, ''), state: 'unchanged', notes, unchanged } as const;
    return { outcome, said: '' };
  }
  const climbed = await climbOne(rung, { ...by, unchanged });
  const ran = new Map([...inputs].filter(([name]) => !unchanged.includes(name)));
  const { outcome } = climbed;
  await passed.note(rung, ran, new Set(outcome.passedFiles));
  if (unchanged.length === 0) return climbed;
  const notes = [unchangedNote(rung, files), ...outcome.notes];
  return { ...climbed, outcome: { ...outcome, notes, unchanged } };
}

const unchangedNote = ({ counts }: Rung, { all, unchanged }: Record<'all' | 'unchanged', number>) =>
  counts === 'one'
    ? 'nothing that it reaches has changed since it passed here'
    : `${unchanged} of ${all} files left out: nothing that they reach has changed since they ` +
      'passed here';

const leftOut = (rung: RungName, why: string): Outcome => ({
  rung,
  state: 'left out',
  passed: 0,
  failed: 0,
  tookMs: 0,
  cpuSeconds: 0,
  notes: [why],
  files: [],
  passedFiles: [],
  unchanged: [],
});

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
