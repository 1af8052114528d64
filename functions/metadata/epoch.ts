// Which epoch a feed is in. The object's status and the marker in the stream agree on it; where
// they do not, one of them was lost, and a new epoch begins: nothing of before compares with it.
import { randomUUID } from 'node:crypto';
import type { MetadataFeedStatus } from '../../shared/api/metadata-feed.ts';
import { Failure } from '../../shared/errors.ts';
import { type Marker, encodeMessage } from '../../shared/feed/messages.ts';
import { MARKER_SUBJECT } from '../../shared/feed/subjects.ts';
import type { Feed } from './feed.ts';
import type { Session, StoredMarker } from './session.ts';

export type Reason =
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
export interface Beginning {
  readonly epoch: number;
  readonly streamId: string;
}

/** Undefined when the epoch goes on. */
export function reasonToBegin(
  status: MetadataFeedStatus,
  marker: Marker | undefined,
  lastSequence: number,
): Reason | undefined {
  if (marker === undefined) return 'StreamIsEmpty';
  if (status.streamId !== marker.id || status.epoch !== marker.epoch) return 'StatusIsForeign';
  return (status.version ?? 0) > lastSequence ? 'StreamLostItsEnd' : undefined;
}

export function begin(
  reason: Reason,
  status: MetadataFeedStatus,
  marker: Marker | undefined,
): Beginning {
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
  { epoch, streamId }: Pick<Beginning, 'epoch'> & Partial<Beginning>,
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
export function markerOf(feed: Feed, { epoch, streamId }: Beginning, ready: boolean): Marker {
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
