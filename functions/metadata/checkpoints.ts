// Writes down what each ledger adds up to, for readers to compare with what they hold. A checkpoint
// lands only if nothing of its ledger was written since it was summed up, so it is true where it
// stands; one that does not land is not needed, because the next sweep writes another.
import { type Floor, encodeMessage } from '../../shared/feed/messages.ts';
import { FLOOR_SUBJECT, checkpointSubject, ledgerFilter } from '../../shared/feed/subjects.ts';
import type { Publication } from '../../shared/nats/stream.ts';
import type { Audit, LedgerSum } from './audit.ts';
import { inTurns } from './in-turns.ts';
import type { Session } from './session.ts';
import { isConflict } from './steps.ts';

/** How many sweeps may fail before readers stop trusting the floor, and take the snapshot. */
const FLOOR_SWEEPS = 3;
/** From the begin of a sweep to its floor, and for clocks that differ. */
const SLACK_SECONDS = 120;

export async function writeCheckpoints(
  session: Session,
  { ledgers }: Audit,
  epoch: number,
  signal: AbortSignal,
): Promise<void> {
  const due = [...ledgers].filter(([, sum]) => isDue(sum, epoch));
  await inTurns(due, signal, async ([name, sum]) => {
    await session.stream.publish([checkpointOf(session, name, sum, epoch)], signal).catch(moved);
  });
}

/** Somebody wrote meanwhile. */
function moved(error: unknown): void {
  if (!isConflict(error)) throw error;
}

function isDue({ digest, checkpoint, lastSequence, isMoving }: LedgerSum, epoch: number): boolean {
  if (isMoving) return false;
  if (checkpoint === undefined) return lastSequence > 0;
  const { objects, sequence } = checkpoint;
  const isTrue = objects === digest.objects && checkpoint.digest === digest.toString();
  // One that is older than the last change is passed over by readers who catch up.
  return !isTrue || checkpoint.epoch !== epoch || sequence < lastSequence;
}

function checkpointOf(
  { feed }: Session,
  name: string,
  { digest, lastSequence, lastWritten }: LedgerSum,
  epoch: number,
): Publication {
  const value = {
    epoch,
    version: lastSequence,
    objects: digest.objects,
    digest: digest.toString(),
  };
  return {
    subject: `${feed.prefix}.${checkpointSubject(name)}`,
    data: encodeMessage(value),
    expectedOn: `${feed.prefix}.${ledgerFilter(name)}`,
    expectedSequence: lastWritten,
    // A node or a namespace that is empty for long is gone: so is what sums it up.
    ...(digest.objects === 0 ? { ttlSeconds: feed.spec.retention.tombstoneSeconds } : {}),
  };
}

/**
 * From this version on every tombstone is still there, for as long as the message itself is:
 * readers who were away resume from it or above.
 */
export async function writeFloor(
  session: Session,
  version: number,
  signal: AbortSignal,
): Promise<number> {
  const { feed, stream } = session;
  const subject = `${feed.prefix}.${FLOOR_SUBJECT}`;
  const floor: Floor = { version };
  const there = (await stream.last([subject], signal)).get(subject);
  const message = {
    subject,
    data: encodeMessage(floor),
    expectedSequence: there?.sequence ?? 0,
    ttlSeconds: FLOOR_SWEEPS * feed.spec.sweepSeconds,
  };
  return stream.publish([message], signal);
}

/** Tombstones that were written before this may be gone before the floor is. */
export function floorTimeMs({ feed }: Session, nowMs: number): number {
  const { retention, sweepSeconds } = feed.spec;
  const lastsSeconds = FLOOR_SWEEPS * sweepSeconds + SLACK_SECONDS;
  return nowMs - (retention.tombstoneSeconds - lastsSeconds) * 1_000;
}
