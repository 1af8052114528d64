// Which epoch a feed is in. The object's status and the marker in the stream agree on it; where
// they do not, one of them was lost, and a new epoch begins: nothing of before compares with it.
import { randomUUID } from 'node:crypto';
import type { MetadataFeedStatus } from '../../shared/api/metadata-feed.ts';
import { Failure } from '../../shared/errors.ts';
import {
  type Marker,
  type StatusReceipt,
  decodeStatusReceipt,
  encodeMessage,
} from '../../shared/feed/messages.ts';
import { FLOOR_SUBJECT, MARKER_SUBJECT, STATUS_SUBJECT } from '../../shared/feed/subjects.ts';
import type { Feed } from './feed.ts';
import type { Session, StoredMarker } from './session.ts';
import { isConflict } from './steps.ts';
import type { StreamSums } from './stream-scan.ts';

export type NewEpochReason =
  /** The stream holds nothing of this feed: it is new, or was lost with its disk or by hand. */
  | 'StreamIsEmpty'
  /** The status was lost: what the stream holds was verified by nobody who is known. */
  | 'StatusIsForeign'
  /** The stream ends before what was verified: its server lost what it had acknowledged. */
  | 'StreamLostItsEnd'
  /** The API server's revisions went back, or its status did: etcd was restored from a copy. */
  | 'RevisionsWentBack';

/**
 * What the status says from now on. The stream keeps its identity when its sequences still hold.
 */
export interface EpochStart {
  readonly epoch: number;
  readonly streamId: string;
}

/** Undefined when the epoch goes on. */
export function reasonForNewEpoch(
  status: MetadataFeedStatus,
  marker: Marker | undefined,
  lastSequence: number,
): NewEpochReason | undefined {
  if (marker === undefined) return 'StreamIsEmpty';
  if (status.streamId !== marker.id || status.epoch !== marker.epoch) return 'StatusIsForeign';
  return (status.version ?? 0) > lastSequence ? 'StreamLostItsEnd' : undefined;
}

export function startEpoch(
  reason: NewEpochReason,
  status: MetadataFeedStatus,
  marker: Marker | undefined,
): EpochStart {
  const epoch = Math.max(status.epoch ?? 0, marker?.epoch ?? 0) + 1;
  const keepsId = reason === 'RevisionsWentBack' && marker !== undefined;
  return { epoch, streamId: keepsId ? marker.id : randomUUID() };
}

/**
 * The marker as it is now, of this epoch. Whoever works in an epoch asks before he overrules others
 * or says that all is well: another instance may have begun the next one, in another stream even.
 */
export async function requireEpoch(
  session: Session,
  { epoch, streamId }: Pick<EpochStart, 'epoch'> & Partial<EpochStart>,
  signal: AbortSignal,
): Promise<StoredMarker> {
  const stored = await session.readMarker(signal);
  const { marker } = stored;
  const isSame = streamId === undefined || marker?.id === streamId;
  if (marker?.epoch === epoch && isSame) return stored;
  const now = marker === undefined ? 'has no epoch yet' : `is in epoch ${marker.epoch}`;
  const { name } = session.feed;
  const message = `Epoch ${epoch} of feed ${name} is over; its stream ${now}. It is tried again.`;
  throw new Failure('FEED_EPOCH_PASSED', message, { object: name });
}

export const isEpochPassed = (error: unknown): boolean =>
  error instanceof Failure && error.code === 'FEED_EPOCH_PASSED';

/** The marker that the stream should have now. */
export function markerOf(feed: Feed, { epoch, streamId }: EpochStart, ready: boolean): Marker {
  return {
    format: 1,
    id: streamId,
    epoch,
    ready,
    resources: feed.resources.map(({ name }) => name),
    historySeconds: feed.spec.retention.historySeconds,
    sweepSeconds: feed.spec.sweepSeconds,
  };
}

/** Writes the marker unless it stands so already. */
export async function putMarker(
  session: Session,
  wanted: Marker,
  { sequence, marker }: StoredMarker,
  signal: AbortSignal,
): Promise<void> {
  if (JSON.stringify(marker) === JSON.stringify(wanted)) return;
  const { feed, stream } = session;
  const subject = `${feed.prefix}.${MARKER_SUBJECT}`;
  const message = { subject, data: encodeMessage(wanted), expectedSequence: sequence };
  const written = await stream.publish([message], signal);
  session.noteMarker({ sequence: written, marker: wanted });
}

export interface Rollback {
  /** Undefined when neither is older than the other knows it. */
  readonly reason: NewEpochReason | undefined;
  /** False when the floor has expired: a stream that lost its end may have grown on since. */
  readonly isSure: boolean;
}

export async function detectRollback(
  { stream }: Session,
  { prefix, status }: Feed,
  signal: AbortSignal,
): Promise<Rollback> {
  const { epoch, floorSequence = 0 } = status;
  const names = [FLOOR_SUBJECT, STATUS_SUBJECT].map((name) => `${prefix}.${name}`);
  const found = await stream.last(names, signal);
  const [floor, receipt] = names.map((name) => found.get(name));
  // A stream that lost its end and grew on has an older floor than the one that was written last.
  const isSure = floor !== undefined || floorSequence === 0;
  if (floor !== undefined && floor.sequence < floorSequence) {
    return { reason: 'StreamLostItsEnd', isSure };
  }
  const known = receipt && decodeStatusReceipt(receipt.data);
  // The API server has acknowledged a later one. No event can say so: only the function writes it.
  const isOld =
    known?.epoch === epoch && known !== undefined && known.floorSequence > floorSequence;
  return { reason: isOld ? 'RevisionsWentBack' : undefined, isSure };
}

/** To be called when the API server has acknowledged the status that says so, and not before. */
export async function recordStatusWritten(
  { stream, feed }: Session,
  receipt: StatusReceipt,
  { ledgers }: StreamSums,
  signal: AbortSignal,
): Promise<void> {
  const subject = `${feed.prefix}.${STATUS_SUBJECT}`;
  const there = (await stream.last([subject], signal)).get(subject);
  // Where nothing was published since, an older status is of the same stream.
  const isQuiet = [...ledgers.values()].every(
    ({ lastSequence }) => lastSequence < (there?.sequence ?? 0),
  );
  if (isQuiet && there !== undefined && decodeStatusReceipt(there.data)?.epoch === receipt.epoch)
    return;
  const message = {
    subject,
    data: encodeMessage(receipt),
    expectedSequence: there?.sequence ?? 0,
  };
  await stream.publish([message], signal).catch((error: unknown) => {
    // Another instance noted a status of its own.
    if (!isConflict(error)) throw error;
  });
}
