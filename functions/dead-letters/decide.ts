// What a dead letter becomes: a Kubernetes Event on the object that it names, or on the broker
// where it names none. Pure. Letters of one cause about one object have one name, so that the API
// server holds a single Event for them, with a count.
import { createHash } from 'node:crypto';
import { cut } from '../../shared/cut.ts';
import type { Manifest } from '../../shared/kube/objects.ts';
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

/** The event as it is the first time; more of the same only count on. */
export function eventAbout(letter: Letter, { instance, nowMs }: Teller): Manifest | undefined {
  const { subject } = letter;
  return subject && eventOn(subject, letter, { instance, nowMs }, '');
}

/** For letters that name no object, or none that an Event can be written about. */
export function eventOnBroker(letter: Letter, { namespace, broker }: Place, by: Teller): Manifest {
  const { subject } = letter;
  const on: Subject = {
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Broker',
    name: broker,
    namespace,
    uid: undefined,
  };
  // Not the object: there may be thousands, and each would be an Event of its own.
  return eventOn(on, letter, by, subject === undefined ? '' : ` about a ${subject.kind}`);
}

function eventOn(on: Subject, letter: Letter, by: Teller, about: string): Manifest {
  const namespace = on.namespace ?? CLUSTER_NAMESPACE;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `dead-letter.${seriesOf(on, letter)}`, namespace },
    eventTime: microTime(by.nowMs),
    type: 'Warning',
    reason: 'EventNotDelivered',
    action: 'Deliver',
    reportingController: 'ballast.dev/dead-letters',
    reportingInstance: by.instance.slice(0, INSTANCE_CHARS_MAX),
    regarding: regarding(on),
    note: noteOf(letter, about),
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
function seriesOf(on: Subject, { functionName, status, code = '', type }: Letter): string {
  const { apiVersion, kind, name, namespace = '', uid = '' } = on;
  const parts = [apiVersion, kind, namespace, name, uid, functionName, status, code, type];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);
}

function noteOf({ functionName, type, status, code, said }: Letter, about: string): string {
  const answer = code ?? (status === 'none' ? 'what is no event' : status);
  const why = said === '' ? '' : `: ${said}`;
  const note =
    `The function ${functionName} did not take the event ${type}${about}, and nobody sends it ` +
    `again; it answered ${answer}${why}`;
  return cut(note, NOTE_BYTES_MAX);
}

/** Six digits, which is the only way in which the API server reads it. */
export const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
