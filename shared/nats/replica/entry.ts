// An entry of a replica: one object of the feed, on its subject, as of a version.
import type { Fingerprint } from '../../feed/digest.ts';
import type { ObjectMessage } from '../../feed/messages.ts';
import type { ObjectKey, Place } from '../../feed/subjects.ts';

export interface Entry {
  /** Relative to the feed's prefix. */
  readonly subject: string;
  /** The stream sequence of the message. */
  readonly version: number;
  readonly fingerprint: Fingerprint;
  readonly key: ObjectKey;
  readonly place: Place;
  readonly object: ObjectMessage;
}
