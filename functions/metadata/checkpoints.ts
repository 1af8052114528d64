// Writes what each ledger added up to at a version. Readers compare that with what they held then.
// A checkpoint stays true whatever is written afterwards, so ledgers that change all the time have
// them as well.
import { type Floor, encodeMessage } from '../../shared/feed/messages.ts';
import { FLOOR_SUBJECT, checkpointSubject } from '../../shared/feed/subjects.ts';
import { forEachLimited } from '../../shared/function/for-each-limited.ts';
import type { Publication } from '../../shared/nats/group-commit.ts';
import type { Session } from './session.ts';
import { isConflict } from './steps.ts';
import type { LedgerSum, StreamScan } from './stream-scan.ts';

/** How many sweeps may fail before readers stop trusting the floor and take the snapshot. */
const FLOOR_SWEEPS = 3;
/** The time from the start of a sweep to its floor, and the difference of clocks. */
const SLACK_SECONDS = 120;

interface AsOf {
  readonly epoch: number;
  readonly version: number;
}

export async function writeCheckpoints(
  session: Session,
  { sums, version }: StreamScan,
  epoch: number,
  signal: AbortSignal,
): Promise<void> {
  if (version === undefined) return;
  const asOf = { epoch, version };
  const due = [...sums.ledgers].filter(([, sum]) => isDue(sum, asOf));
  await forEachLimited(due, signal, async ([name, sum]) => {
    await session.stream.publish([checkpointOf(session, name, sum, asOf)], signal).catch(outdone);
  });
}

/** Another instance wrote a newer checkpoint. */
function outdone(error: unknown): void {
  if (!isConflict(error)) throw error;
}

function isDue(ledger: LedgerSum, { epoch, version }: AsOf): boolean {
  const { digest, checkpoint, checkpointSequence, lastSequence } = ledger;
  if (checkpoint === undefined) return Math.max(lastSequence, checkpointSequence) > 0;
  const { objects } = checkpoint;
  const isTrue = objects === digest.objects && checkpoint.digest === digest.toString();
  // A checkpoint with a version of the future would otherwise never be written again.
  const isOfNow = lastSequence <= checkpoint.version && checkpoint.version <= version;
  return !isTrue || checkpoint.epoch !== epoch || !isOfNow;
}

function checkpointOf(
  { feed }: Session,
  name: string,
  { digest, checkpointSequence }: LedgerSum,
  asOf: AsOf,
): Publication {
  const value = { ...asOf, objects: digest.objects, digest: digest.toString() };
  return {
    subject: `${feed.prefix}.${checkpointSubject(name)}`,
    data: encodeMessage(value),
    // Compare-and-set: an older checkpoint never replaces a newer one.
    expectedSequence: checkpointSequence,
    // The checkpoint of a node or a namespace that is empty for long expires.
    ...(digest.objects === 0 ? { ttlSeconds: feed.spec.retention.tombstoneSeconds } : {}),
  };
}

/**
 * From this version on every tombstone is in the stream, for as long as the floor message itself
 * is. Readers that were away resume from it or above.
 */
export async function writeFloor(
  session: Session,
  version: number,
  signal: AbortSignal,
): Promise<number> {
  const { feed, stream } = session;
  const subject = `${feed.prefix}.${FLOOR_SUBJECT}`;
  const floor: Floor = { version };
  const stored = (await stream.last([subject], signal)).get(subject);
  const message = {
    subject,
    data: encodeMessage(floor),
    expectedSequence: stored?.sequence ?? 0,
    ttlSeconds: FLOOR_SWEEPS * feed.spec.sweepSeconds,
  };
  return stream.publish([message], signal);
}

/** Tombstones written before this time may expire before the floor does. */
export function floorTimeMs({ feed }: Session, nowMs: number): number {
  const { retention, sweepSeconds } = feed.spec;
  const lastsSeconds = FLOOR_SWEEPS * sweepSeconds + SLACK_SECONDS;
  return nowMs - (retention.tombstoneSeconds - lastsSeconds) * 1_000;
}
