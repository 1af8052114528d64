// Runs many seeds one after the other, prints those that failed, and the figures of all of them.
import { systemClock } from '../../../shared/clock.ts';
import { LIVES } from './lives.ts';
import type { Options } from './options.ts';
import { type Outcome, runSeed } from './seed.ts';

/** A line each minute: nobody else says that it goes on. */
const TOLD_EVERY_MS = 60_000;

export async function runSeeds({ first, count, minutes }: Options): Promise<number> {
  const outcomes: Outcome[] = [];
  const beganAtMs = systemClock.nowMs();
  const isOver = new AbortController();
  let toldAtMs = beganAtMs;
  const end = (): void => isOver.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  for (let seed = first; seed < first + count; seed += 1) {
    const nowMs = systemClock.nowMs();
    if (isOver.signal.aborted || nowMs - beganAtMs > minutes * 60_000) break;
    const outcome = await runSeed(String(seed));
    outcomes.push(outcome);
    if (outcome.failure !== undefined) process.stdout.write(failureLine(outcome));
    if (nowMs - toldAtMs < TOLD_EVERY_MS) continue;
    toldAtMs = nowMs;
    process.stdout.write(`${totals(outcomes)}\n`);
  }
  process.stdout.write(page(outcomes));
  return outcomes.some(({ failure }) => failure !== undefined) ? 1 : 0;
}

const failureLine = ({ seed, life, failure = '' }: Outcome): string =>
  `seed ${seed} (${life}): ${failure}\n`;

function totals(outcomes: readonly Outcome[]): string {
  const sum = (of: (one: Outcome) => number): number =>
    outcomes.reduce((total, one) => total + of(one), 0);
  const failed = outcomes.filter(({ failure }) => failure !== undefined).length;
  return [
    `${outcomes.length} runs`,
    `${sum(({ deaths }) => deaths)} deaths`,
    `${sum(({ oldReads }) => oldReads)} old reads`,
    `${sum(({ lostEvents }) => lostEvents)} lost events`,
    `${sum(({ writes }) => writes)} writes`,
    `${failed} failed`,
  ].join(', ');
}

function page(outcomes: readonly Outcome[]): string {
  const lines = LIVES.map(({ name }) => {
    const own = outcomes.filter(({ life }) => life === name);
    return `${name}: ${totals(own)}`;
  });
  return `${[...lines, '', totals(outcomes)].join('\n')}\n`;
}
