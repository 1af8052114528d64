// The epoch of a feed. The status of the MetadataFeed and the marker in the stream agree on it.
// Where they do not, one of them was lost or restored from an older copy, and a new epoch begins:
// versions of an earlier epoch cannot be compared.
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
  /** The stream holds no marker: it is new, or was lost with its disk or by hand. */
  | 'StreamIsEmpty'
  /** The status was lost: nothing says how far the stream was verified. */
  | 'StatusIsForeign'
  /** The stream ends before what was verified: its server lost acknowledged messages. */
  | 'StreamLostItsEnd'
  /** The API server's revisions went back, or its status did: etcd was restored from a copy. */
  | 'RevisionsWentBack';

/**
 * The epoch and the stream's identity that the status holds from now on. The identity stays when
 * the stream's sequences still hold.
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
 * Reads the marker again, and throws when its epoch is another. Called before an instance overrules
 * others or reports that all is well: another instance may have begun the next epoch, even in
 * another stream.
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

/** The marker that the stream should hold. */
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

/** Writes the marker unless it is the same already. */
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
  /** Undefined when neither side is older than the other knows it. */
  readonly reason: NewEpochReason | undefined;
  /** False when the floor has expired: the stream may have lost its end and grown again since. */
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
  // A stream that lost its end and grew again has a floor older than the one last written.
  const isSure = floor !== undefined || floorSequence === 0;
  if (floor !== undefined && floor.sequence < floorSequence) {
    return { reason: 'StreamLostItsEnd', isSure };
  }
  const known = receipt && decodeStatusReceipt(receipt.data);
  // The API server has acknowledged a later status. Only this function writes the receipt, so no
  // forged event can claim that.
  const isOld =
    known?.epoch === epoch && known !== undefined && known.floorSequence > floorSequence;
  return { reason: isOld ? 'RevisionsWentBack' : undefined, isSure };
}

/** Call it only after the API server has acknowledged the status. */
export async function recordStatusWritten(
  { stream, feed }: Session,
  receipt: StatusReceipt,
  { ledgers }: StreamSums,
  signal: AbortSignal,
): Promise<void> {
  const subject = `${feed.prefix}.${STATUS_SUBJECT}`;
  const stored = (await stream.last([subject], signal)).get(subject);
  // Nothing was published since the last receipt: an older status still describes the same stream.
  const isQuiet = [...ledgers.values()].every(
    ({ lastSequence }) => lastSequence < (stored?.sequence ?? 0),
  );
  if (isQuiet && stored !== undefined && decodeStatusReceipt(stored.data)?.epoch === receipt.epoch)
    return;
  const message = {
    subject,
    data: encodeMessage(receipt),
    expectedSequence: stored?.sequence ?? 0,
  };
  await stream.publish([message], signal).catch((error: unknown) => {
    // Another instance wrote the receipt of its own status.
    if (!isConflict(error)) throw error;
  });
}
