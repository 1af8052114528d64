// Decides the Kubernetes Events for a dead letter: on the object that it names, and on the broker.
// Letters of one cause about one object have one Event name, so the API server holds a single Event
// for them, with a count; so have letters of one cause on the broker. Pure.
import { createHash } from 'node:crypto';
import { cut, quoted } from '../../shared/cut.ts';
import { errorTable } from '../../shared/errors.ts';
import { NOT_DELIVERED } from '../../shared/kube/not-delivered.ts';
import type { Manifest } from '../../shared/kube/objects.ts';
import { microTime } from '../../shared/kube/timestamp.ts';
import type { Letter, Subject } from './letter.ts';

export interface BrokerRef {
  readonly namespace: string;
  readonly broker: string;
}

export interface Reporter {
  /** The instance, whose log has more. */
  readonly instance: string;
  readonly nowMs: number;
}

/** The namespace of Events about cluster-scoped objects. */
const CLUSTER_NAMESPACE = 'default';
/** Limits of the API server. */
const NOTE_BYTES_MAX = 1_024;
const INSTANCE_CHARS_MAX = 128;

/** The cluster's own namespaces: readers trust Events there, and anybody may send a letter. */
const CLUSTERS_OWN = /^kube-/;

/**
 * The Event on the object; undefined when none may be written there. More letters of the same cause
 * only raise its count.
 */
export function eventAbout(letter: Letter, reporter: Reporter): Manifest | undefined {
  const { subject, answer } = letter;
  if (subject?.uid === undefined || CLUSTERS_OWN.test(subject.namespace ?? '')) return undefined;
  return eventOn(subject, letter, reporter, noteOf(letter, '', answer));
}

/**
 * The Event on the broker, by which `console` tells of letters without a right to read the Events
 * of all namespaces. It holds no text of the answer: nobody knows who wrote that.
 */
export function eventOnBroker(
  letter: Letter,
  { namespace, broker }: BrokerRef,
  reporter: Reporter,
): Manifest {
  const { subject } = letter;
  const about = subject === undefined ? '' : ` about a ${quoted(subject.kind)}`;
  const refusal = letter.code === undefined ? '' : `${errorTable[letter.code].title}.`;
  // Does not name the object: thousands of objects would be thousands of Events.
  return eventOn(brokerOf({ namespace, broker }), letter, reporter, noteOf(letter, about, refusal));
}

/** One Event for all letters beyond those that are told apart. */
export function eventOfMany(place: BrokerRef, reporter: Reporter): Manifest {
  const many = { type: '', functionName: '', status: '', code: undefined } as const;
  const note =
    'More dead letters of different kinds came within a minute than are told apart; the log of ' +
    'dead-letters names them.';
  return eventOn(brokerOf(place), many, reporter, note);
}

function brokerOf({ namespace, broker }: BrokerRef): Subject {
  return {
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Broker',
    name: broker,
    namespace,
    uid: undefined,
  };
}

type Cause = Pick<Letter, 'type' | 'functionName' | 'status' | 'code'>;

function eventOn(on: Subject, cause: Cause, reporter: Reporter, note: string): Manifest {
  const namespace = on.namespace ?? CLUSTER_NAMESPACE;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `dead-letter.${seriesOf(on, cause)}`, namespace },
    eventTime: microTime(reporter.nowMs),
    type: 'Warning',
    reason: NOT_DELIVERED,
    action: 'Deliver',
    reportingController: 'ballast.dev/dead-letters',
    reportingInstance: reporter.instance.slice(0, INSTANCE_CHARS_MAX),
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

/** One name for an object, a function and a cause, on whichever instance. */
function seriesOf(on: Subject, { functionName, status, code, type }: Cause): string {
  const { apiVersion, kind, name, namespace = '', uid = '' } = on;
  const parts = [apiVersion, kind, namespace, name, uid, functionName, status, code ?? '', type];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);
}

const WITHOUT_STATUS: ReadonlyMap<string, string> = new Map([
  ['none', 'what is no event'],
  ['other', 'with a rare status'],
]);

function noteOf(letter: Letter, about: string, refusal: string): string {
  const { functionName, type, status, code } = letter;
  const answer = code ?? WITHOUT_STATUS.get(status) ?? status;
  const why = refusal === '' ? '' : `: ${refusal}`;
  return (
    `The function ${functionName} did not take the event ${quoted(type)}${about}, and nobody ` +
    `sends it again; it answered ${answer}${why}`
  );
}
