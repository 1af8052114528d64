// How long something took on real pods, written down for whoever runs the tests.
import { systemClock } from '../../../shared/clock.ts';

export async function timed<Result>(title: string, work: () => Promise<Result>): Promise<Result> {
  const startedAtMs = systemClock.nowMs();
  const result = await work();
  process.stdout.write(`${title}: ${((systemClock.nowMs() - startedAtMs) / 1_000).toFixed(1)} s\n`);
  return result;
}
