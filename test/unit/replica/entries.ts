// Entries for tests of what a replica holds: only what the test is about is said.
import { fingerprint } from '../../../shared/feed/digest.ts';
import { type ObjectMessage, encodeMessage } from '../../../shared/feed/messages.ts';
import { type Place, subjectOf } from '../../../shared/feed/subjects.ts';
import type { Entry } from '../../../shared/nats/replica/entry.ts';

export interface EntryText extends Partial<ObjectMessage> {
  readonly resource?: string;
  readonly place?: Place;
  readonly version?: number;
}

let versions = 0;

/** Versions grow, unless said otherwise. A pod with a node stands there. */
export function entryOf(parts: EntryText): Entry {
  versions += 1;
  const { resource = 'pods', version = versions, place, ...said } = parts;
  const object: ObjectMessage = {
    epoch: 1,
    kind: 'Pod',
    name: 'web-1',
    uid: `uid-of-${said.name ?? 'web-1'}`,
    resourceVersion: String(version),
    ...said,
  };
  const { name, namespace = '', node } = object;
  const own = node === undefined ? 'all' : { node };
  const key = { resource, namespace, name };
  const subject = subjectOf(place ?? own, key);
  return {
    subject,
    version,
    fingerprint: fingerprint(subject, encodeMessage(object)),
    key,
    place: place ?? own,
    object,
  };
}
