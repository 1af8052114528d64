// Reads the whole stream once: what changed since the last sweep and was confirmed by nobody, and
// what the checkpoints of each ledger have to say.
import { parseSubject } from '../../shared/feed/subjects.ts';
import type { StoredMessage } from '../../shared/nats/jetstream.ts';
import { readThrough } from '../../shared/nats/read-through.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Doubt } from './look.ts';
import type { Session } from './session.ts';
import { Sums } from './sums.ts';

export interface Audit {
  /**
   * The sums are those of the stream as it was at this version, whatever came since. Undefined
   * when its servers did not agree in time on what it is.
   */
  readonly version: number | undefined;
  readonly sums: Sums;
  /** From here on nothing that was deleted is forgotten, as far as the time asked for tells. */
  readonly floor: number;
}

export async function audit(
  { feed: { prefix }, stream }: Session,
  floorMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Audit> {
  const sums = new Sums(prefix);
  let floor: number | undefined;
  let last = 0;
  const take = (stored: StoredMessage): void => {
    last = stored.sequence;
    // Whatever was written before it and since the time asked for would stand here as well.
    if (floor === undefined && Date.parse(stored.time) >= floorMs) floor = stored.sequence - 1;
    sums.take(stored);
  };
  const version = await readThrough(stream, `${prefix}.>`, take, { clock, signal });
  return { version, sums, floor: floor ?? version ?? last };
}

export interface Range {
  /** The last one that was confirmed. */
  readonly after: number;
  readonly upTo: number;
}

/** What stands from this range of versions and is not settled, by object. */
export async function doubtsIn(
  session: Session,
  { after, upTo }: Range,
  isSettled: (subject: string, sequence: number) => boolean,
  signal: AbortSignal,
): Promise<readonly Doubt[]> {
  const { prefix } = session.feed;
  const doubts = new Map<string, Doubt>();
  for await (const { subject, sequence } of session.stream.read(`${prefix}.>`, signal, after + 1)) {
    if (sequence > upTo) break;
    const place = subject.slice(prefix.length + 1);
    const key = parseSubject(place)?.key;
    if (key === undefined || isSettled(place, sequence)) continue;
    const name = `${key.resource} ${key.namespace}/${key.name}`;
    const doubt = doubts.get(name) ?? { key, subjects: new Set<string>() };
    doubt.subjects.add(place);
    doubts.set(name, doubt);
  }
  return [...doubts.values()];
}
