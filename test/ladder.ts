// `npm test`: climbs the ladder and closes with the line `N passed, N failed`.
// Ends with 0 only when nothing failed, with 2 when it did not understand what it was asked.

import { env } from 'node:process';
import type { Outcome } from './ladder/outcome.ts';
import { climb, total } from './ladder/climb.ts';
import { inOrder } from './ladder/order.ts';
import { readOptions, usage } from './ladder/options.ts';
import { Passed } from './ladder/passed.ts';
import { record } from './ladder/recorded.ts';
import { machineSlots, rungs } from './ladder/rungs.ts';
import { timesTable } from './ladder/times.ts';

const say = (text: string): void => {
  process.stdout.write(text);
};

async function main(): Promise<number> {
  const strict = env['CI'] === 'true';
  const options = readOptions(process.argv.slice(2), strict);
  if (options.do === 'help') {
    say(usage());
    return 0;
  }
  if (options.do === 'refuse') {
    process.stderr.write(`${options.why}\n\n${usage()}`);
    return 2;
  }
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => interrupt.abort());
  }
  const chosen = rungs.filter((rung) => options.chosen.includes(rung.name));
  const startedMs = performance.now();
  const outcomes = await climb(inOrder(chosen), {
    signal: interrupt.signal,
    slots: machineSlots,
    passed: new Passed(),
    onlyChanged: options.onlyChanged,
    say,
  });
  const stopped = interrupt.signal.aborted;
  if (options.showsTimes) {
    say(timesTable(outcomes, performance.now() - startedMs));
    record(outcomes);
  }
  say(notClimbed(outcomes, stopped));
  const last = total(outcomes, strict);
  say(`${last}\n`);
  return stopped || !last.endsWith(' 0 failed') ? 1 : 0;
}

function notClimbed(outcomes: readonly Outcome[], stopped: boolean): string {
  if (stopped) return '\nStopped before the end.\n';
  const named = (state: Outcome['state']): string =>
    outcomes.flatMap((outcome) => (outcome.state === state ? [outcome.rung] : [])).join(', ');
  const [leftOut, unchanged] = [named('left out'), named('unchanged')];
  return [
    '',
    ...(unchanged === '' ? [] : [`Unchanged since they passed here: ${unchanged}.`]),
    ...(leftOut === '' ? [] : [`Left out: ${leftOut}. The reasons and the ways out stand above.`]),
    '',
  ].join('\n');
}

process.exitCode = await main();
