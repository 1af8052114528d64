// Climbs what was chosen, in the order of recorded times, and says at the end what became of it.

import { climb, total } from './climb.ts';
import type { Options } from './options.ts';
import { inOrder } from './order.ts';
import type { Outcome } from './outcome.ts';
import { Passed } from './passed.ts';
import { record } from './recorded.ts';
import { machineSlots, rungs } from './rungs.ts';
import { timesTable } from './times.ts';

const print = (text: string): void => {
  process.stdout.write(text);
};

/** Resolves with true when nothing failed; `strict` counts a rung that was left out as failed. */
export async function climbChosen(
  options: Extract<Options, { readonly do: 'run' }>,
  strict: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const chosen = rungs.filter((rung) => options.chosen.includes(rung.name));
  const startedMs = performance.now();
  const outcomes = await climb(inOrder(chosen), {
    signal,
    slots: machineSlots,
    // A continuous build takes nobody's word, and nobody takes its.
    ...(strict ? {} : { passed: new Passed() }),
    onlyChanged: options.onlyChanged,
    print,
  });
  const stopped = signal.aborted;
  if (options.showsTimes) {
    print(timesTable(outcomes, performance.now() - startedMs));
    record(outcomes);
  }
  print(notClimbed(outcomes, stopped));
  const last = total(outcomes, strict);
  print(`${last}\n`);
  return !stopped && last.endsWith(' 0 failed');
}

function notClimbed(outcomes: readonly Outcome[], stopped: boolean): string {
  if (stopped) return '\nStopped before the end.\n';
  const named = (state: Outcome['state']): string =>
    outcomes.flatMap((outcome) => (outcome.state === state ? [outcome.rung] : [])).join(', ');
  const [leftOut, unchanged] = [named('left out'), named('unchanged')];
  return [
    '',
    ...(unchanged === '' ? [] : [`Unchanged since they passed here: ${unchanged}.`]),
    ...filesLine(outcomes),
    ...(leftOut === '' ? [] : [`Left out: ${leftOut}. The reasons and the ways out stand above.`]),
    '',
  ].join('\n');
}

function filesLine(outcomes: readonly Outcome[]): readonly string[] {
  const files = outcomes.flatMap(({ unchanged }) => unchanged.filter((one) => one.includes('/')));
  if (files.length === 0) return [];
  const ran = outcomes.flatMap((one) => one.files).filter(({ file }) => file.endsWith('.test.ts'));
  return [
    `${files.length} of ${files.length + ran.length} test files were left out: nothing that they ` +
      'reach has changed since they passed here.',
  ];
}
