// The content of a replica as plain JSON, to be stored and resumed from by the next process. It is
// verified by the digest of the next checkpoint, like everything else.
import type { ObjectMessage } from '../../feed/messages.ts';
import { parseSubject } from '../../feed/subjects.ts';
import type { Entry } from './entry.ts';

export interface Bookmark {
  readonly format: 1;
  /** The `id` of the marker: versions belong to this stream. */
  readonly id: string;
  /** All up to here is in the entries; 0 when they say nothing about a version. */
  readonly version: number;
  readonly entries: readonly BookmarkEntry[];
}

/** Subject, version, the two halves of the message's fingerprint, and the message. */
export type BookmarkEntry = readonly [string, number, number, number, ObjectMessage];

export function bookmarkOf(id: string, version: number, entries: Iterable<Entry>): Bookmark {
  const rows = Array.from(entries, (entry): BookmarkEntry => {
    const { high, low } = entry.fingerprint;
    return [entry.subject, entry.version, high, low, entry.object];
  });
  return { format: 1, id, version, entries: rows };
}

/** Undefined when one of them cannot be read: then all of it is worth nothing. */
export function entriesOf({ entries }: Bookmark): readonly Entry[] | undefined {
  const read: Entry[] = [];
  for (const [subject, version, high, low, message] of entries) {
    const place = parseSubject(subject);
    if (place === undefined || !isWhole(message)) return undefined;
    read.push({ subject, version, fingerprint: { high, low }, ...place, object: message });
  }
  return read;
}

/** It was stored in between: what lookups build on is looked at, as when a message arrives. */
function isWhole({ epoch, kind, name, uid, resourceVersion }: ObjectMessage): boolean {
  const texts: readonly unknown[] = [kind, name, uid, resourceVersion];
  return typeof epoch === 'number' && texts.every((text) => typeof text === 'string');
}
