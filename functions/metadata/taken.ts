// Whether status and stream are of the same time. Either may have been brought back from an older
// copy, the status with etcd and the stream with its server; each has a note of the other.
import { type Taken, decodeTaken, encodeMessage } from '../../shared/feed/messages.ts';
import { FLOOR_SUBJECT, TAKEN_SUBJECT } from '../../shared/feed/subjects.ts';
import type { Reason } from './epoch.ts';
import type { Feed } from './feed.ts';
import type { Session } from './session.ts';
import { isConflict } from './steps.ts';
import type { Sums } from './sums.ts';

export interface Apart {
  /** Undefined when neither is older than the other knows it. */
  readonly reason: Reason | undefined;
  /** False when the floor has expired: a stream that lost its end may have grown on since. */
  readonly isSure: boolean;
}

export async function wentApart(
  { stream }: Session,
  { prefix, status }: Feed,
  signal: AbortSignal,
): Promise<Apart> {
  const { epoch, floorSequence = 0 } = status;
  const names = [FLOOR_SUBJECT, TAKEN_SUBJECT].map((name) => `${prefix}.${name}`);
  const found = await stream.last(names, signal);
  const [floor, taken] = names.map((name) => found.get(name));
  // A stream that lost its end and grew on has an older floor than the one that was written last.
  const isSure = floor !== undefined || floorSequence === 0;
  if (floor !== undefined && floor.sequence < floorSequence) {
    return { reason: 'StreamLostItsEnd', isSure };
  }
  const known = taken && decodeTaken(taken.data);
  // The API server has acknowledged a later one. No event can say so: only the function writes it.
  const isOld =
    known?.epoch === epoch && known !== undefined && known.floorSequence > floorSequence;
  return { reason: isOld ? 'RevisionsWentBack' : undefined, isSure };
}

/** To be called when the API server has acknowledged the status that says so, and not before. */
export async function noteTaken(
  { stream, feed }: Session,
  taken: Taken,
  { ledgers }: Sums,
  signal: AbortSignal,
): Promise<void> {
  const subject = `${feed.prefix}.${TAKEN_SUBJECT}`;
  const there = (await stream.last([subject], signal)).get(subject);
  // Where nothing was published since, an older status is of the same stream.
  const isQuiet = [...ledgers.values()].every(
    ({ lastSequence }) => lastSequence < (there?.sequence ?? 0),
  );
  if (isQuiet && there !== undefined && decodeTaken(there.data)?.epoch === taken.epoch) return;
  const message = {
    subject,
    data: encodeMessage(taken),
    expectedSequence: there?.sequence ?? 0,
  };
  await stream.publish([message], signal).catch((error: unknown) => {
    // Another instance noted a status of its own.
    if (!isConflict(error)) throw error;
  });
}
