// Changes pods at a rate and waits until every reader that should see a change has seen it, so
// that what a change costs is counted to its end.
import { systemClock } from '../../../shared/clock.ts';
import type { Seen } from './arrivals.ts';
import type { Child } from './child.ts';
import { countSeen, seenAt, type Turns } from './coverage.ts';
import type { Crew } from './crew.ts';
import type { WriteOrder, Written } from './writer.ts';

export type WriterChild = Child<WriteOrder, Written>;

/** Somebody who sees the writer's changes. */
export interface Witness {
  readonly crew: Crew;
  /** How many are waited for; `each`, of one timed reader: that each change is seen. */
  readonly sightings: number | 'each';
}

export interface Churned {
  readonly written: Written;
  /** By witness. */
  readonly seen: readonly Seen[];
}

const POLL_MS = 20;
/** A reader that lacks a change after so long has lost it. */
const ARRIVAL_TIMEOUT_MS = 15_000;

export async function churn(
  writer: WriterChild,
  order: WriteOrder,
  witnesses: readonly Witness[],
): Promise<Churned> {
  for (const { crew } of witnesses) await crew.take();
  const written = await writer.ask(order);
  const turns = { firstTurn: written.firstTurn, changes: order.changes, pods: order.pods };
  const seen = await Promise.all(witnesses.map((one) => untilSeen(one, turns)));
  return { written, seen };
}

async function untilSeen({ crew, sightings }: Witness, turns: Turns): Promise<Seen> {
  const parts: Seen[] = [];
  const endsAtMs = performance.now() + ARRIVAL_TIMEOUT_MS;
  for (;;) {
    parts.push(await crew.take());
    const times = Float64Array.from(parts.flatMap((part) => [...part.times]));
    const changes =
      sightings === 'each'
        ? countSeen(seenAt(times, turns))
        : parts.reduce((sum, part) => sum + part.changes, 0);
    const wanted = sightings === 'each' ? turns.changes : sightings;
    if (changes >= wanted) return { changes, times };
    if (performance.now() > endsAtMs) {
      throw new Error(`${wanted} changes should have been seen, and only ${changes} were.`);
    }
    await systemClock.sleep(POLL_MS);
  }
}
