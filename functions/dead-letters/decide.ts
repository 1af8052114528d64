// What a dead letter becomes: a Kubernetes Event on the object that it names, or on the broker
// where it names none. Pure. Letters of one cause about one object have one name, so that the API
// server holds a single Event for them, with a count.
import { createHash } from 'node:crypto';
import { cut, quoted } from '../../shared/cut.ts';
import { errorTable } from '../../shared/errors.ts';
import type { Manifest } from '../../shared/kube/objects.ts';
import { microTime } from '../../shared/kube/timestamp.ts';
import type { Letter, Subject } from './letter.ts';

export interface Place {
  readonly namespace: string;
  readonly broker: string;
}

export interface Teller {
  /** The instance, for whoever wants to read its log. */
  readonly instance: string;
  readonly nowMs: number;
}

/** Where events about objects of no namespace are. */
const CLUSTER_NAMESPACE = 'default';
/** What the API server takes. */
const NOTE_BYTES_MAX = 1_024;
const INSTANCE_CHARS_MAX = 128;

/** Of the cluster itself: what stands there is believed, and anybody may be the sender. */
const CLUSTERS_OWN = /^kube-/;

/** The event as it is the first time; more of the same only count on. */
export function eventAbout(letter: Letter, by: Teller): Manifest | undefined {
  const { subject, said } = letter;
  if (subject?.uid === undefined || CLUSTERS_OWN.test(subject.namespace ?? '')) return undefined;
  return eventOn(subject, letter, by, noteOf(letter, '', said));
}

/**
 * For letters that name no object, or none that they prove to know, or none that an Event can be
 * written about. In our own words: whose the answer's are nobody knows.
 */
export function eventOnBroker(letter: Letter, { namespace, broker }: Place, by: Teller): Manifest {
  const { subject } = letter;
  const about = subject === undefined ? '' : ` about a ${quoted(subject.kind)}`;
  const words = letter.code === undefined ? '' : `${errorTable[letter.code].title}.`;
  // Not the object: there may be thousands, and each would be an Event of its own.
  return eventOn(brokerOf({ namespace, broker }), letter, by, noteOf(letter, about, words));
}

/** For all that are more than are told apart. */
export function eventOfMany(place: Place, by: Teller): Manifest {
  const many = { type: '', functionName: '', status: '', code: undefined } as const;
  const note =
    'More dead letters of different kinds came within a minute than are told apart; the log of ' +
    'dead-letters names them.';
  return eventOn(brokerOf(place), many, by, note);
}

function brokerOf({ namespace, broker }: Place): Subject {
  return {
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Broker',
    name: broker,
    namespace,
    uid: undefined,
  };
}

type Cause = Pick<Letter, 'type' | 'functionName' | 'status' | 'code'>;

function eventOn(on: Subject, cause: Cause, by: Teller, note: string): Manifest {
  const namespace = on.namespace ?? CLUSTER_NAMESPACE;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `dead-letter.${seriesOf(on, cause)}`, namespace },
    eventTime: microTime(by.nowMs),
    type: 'Warning',
    reason: 'EventNotDelivered',
    action: 'Deliver',
    reportingController: 'ballast.dev/dead-letters',
    reportingInstance: by.instance.slice(0, INSTANCE_CHARS_MAX),
    regarding: regarding(on),
    note: cut(note, NOTE_BYTES_MAX),
  };
}

function regarding({ apiVersion, kind, name, namespace, uid }: Subject): object {
  return {
    apiVersion,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

/** One for an object, a function and a cause, whichever instance is told. */
function seriesOf(on: Subject, { functionName, status, code, type }: Cause): string {
  const { apiVersion, kind, name, namespace = '', uid = '' } = on;
  const parts = [apiVersion, kind, namespace, name, uid, functionName, status, code ?? '', type];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);
}

const WITHOUT_STATUS: ReadonlyMap<string, string> = new Map([
  ['none', 'what is no event'],
  ['other', 'with a rare status'],
]);

function noteOf(letter: Letter, about: string, words: string): string {
  const { functionName, type, status, code } = letter;
  const answer = code ?? WITHOUT_STATUS.get(status) ?? status;
  const why = words === '' ? '' : `: ${words}`;
  return (
    `The function ${functionName} did not take the event ${quoted(type)}${about}, and nobody ` +
    `sends it again; it answered ${answer}${why}`
  );
}
