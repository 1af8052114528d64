// Parses a dead letter: an event that a broker gave up on, with the attributes in which the broker
// says why. Pure. Attributes that are missing or malformed are left out. A letter is never refused,
// since nobody would send it again.
import { type ErrorCode, errorTable } from '../../shared/errors.ts';
import type { IncomingEvent } from '../../shared/function/define.ts';

/** The object that the event was about, as its sender named it. */
export interface Subject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Undefined for kinds that belong to no namespace. */
  readonly namespace: string | undefined;
  /** Known when the event carries the object itself; `kubectl describe` finds Events by it. */
  readonly uid: string | undefined;
}

export interface Letter {
  readonly type: string;
  /** The function that did not take the event; `unknown` when it is not in LETTERS_OF. */
  readonly functionName: string;
  /** The HTTP status that it answered; `none` when there is none, `other` for a rare one. */
  readonly status: string;
  /** The code of a Ballast failure, if the answer held one: docs/errors.md explains it. */
  readonly code: ErrorCode | undefined;
  /** The text of the answer, for people. */
  readonly answer: string;
  readonly subject: Subject | undefined;
}

const UNKNOWN = 'unknown';
const UID = /^[\w-]{1,64}$/;
/** Statuses of functions, proxies and brokers. A made-up one would be a time series of its own. */
const STATUSES: ReadonlySet<string> = new Set([
  ...Object.values(errorTable).map(({ status }) => String(status)),
  '408',
  '409',
  '429',
  '500',
  '502',
  '504',
]);
/** Answers are text from outside: kept up to the length of a line of kubectl. */
const ANSWER_CHARS_MAX = 400;
/** A broker cuts the answer off at 768 bytes, so it may not be valid JSON. */
const CODE = /"code":"([A-Z][A-Z0-9_]{1,62})"/;
const DETAIL = /"detail":"((?:[^"\\]|\\.)*)/;
/**
 * Answers say that the work is tried again, or ask for the event again. That was for the broker,
 * which has given up.
 */
const SEND_AGAIN = String.raw`send (?:it|this one|the event|the request) again[^.;:]*`;
const AGAIN_SENTENCE = new RegExp(
  String.raw`(?<=^|[.!?] )(?:it is (?:tried|asked) again|try again later|${SEND_AGAIN})\.\s*`,
  'gi',
);
const AGAIN_CLAUSE = new RegExp(`[;:,] (?:(?:and |it )*is tried again|${SEND_AGAIN})`, 'g');

/** `known` are the functions that get a label of their own: anybody can write a name. */
export function readLetter(event: IncomingEvent, known: ReadonlySet<string>): Letter {
  const body = decoded(textOf(event, 'knativeerrordata'));
  return {
    type: event.type,
    functionName: functionOf(event, known),
    status: statusOf(textOf(event, 'knativeerrorcode')),
    code: codeIn(body),
    answer: answerIn(body),
    subject: subjectOf(event),
  };
}

/**
 * Ballast's sources write the name of the function on each event. Without it the host that failed
 * is the name.
 */
function functionOf(event: IncomingEvent, known: ReadonlySet<string>): string {
  const host = URL.parse(textOf(event, 'knativeerrordest'))?.hostname.split('.')[0] ?? '';
  const names = [textOf(event, 'ballastfunction'), host];
  return names.find((name) => known.has(name)) ?? UNKNOWN;
}

function statusOf(text: string): string {
  if (STATUSES.has(text)) return text;
  return /^[1-5]\d\d$/.test(text) ? 'other' : 'none';
}

function codeIn(body: string): ErrorCode | undefined {
  const found = CODE.exec(body)?.[1] ?? '';
  return isErrorCode(found) ? found : undefined;
}

const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errorTable, text);

function subjectOf(event: IncomingEvent): Subject | undefined {
  const [apiVersion, kind, name] = ['apiversion', 'kind', 'name'].map((key) => textOf(event, key));
  if (!apiVersion || !kind || !name) return undefined;
  const namespace = textOf(event, 'namespace') || undefined;
  const claimed = { apiVersion, kind, name, namespace };
  return { ...claimed, uid: uidIn(event.data, claimed) };
}

/**
 * Only if the event carries the very object that its attributes name: a sender who has the object
 * may read it.
 */
function uidIn(data: unknown, claimed: Omit<Subject, 'uid'>): string | undefined {
  if (!isObject(data) || !isObject(data['metadata'])) return undefined;
  const { metadata } = data;
  const isIt =
    data['apiVersion'] === claimed.apiVersion &&
    data['kind'] === claimed.kind &&
    metadata['name'] === claimed.name &&
    metadata['namespace'] === claimed.namespace;
  const { uid } = metadata;
  return isIt && typeof uid === 'string' && UID.test(uid) ? uid : undefined;
}

function answerIn(body: string): string {
  const detail = DETAIL.exec(body)?.[1]?.replaceAll('\\"', '"');
  const whole = (detail ?? body).replaceAll(/\s+/g, ' ');
  const text = whole.replaceAll(AGAIN_SENTENCE, '').replaceAll(AGAIN_CLAUSE, '').trim();
  return text.length > ANSWER_CHARS_MAX ? `${text.slice(0, ANSWER_CHARS_MAX)}…` : text;
}

/** Knative writes base64. Any other text was put there by another sender. */
function decoded(text: string): string {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return text;
  return Buffer.from(text, 'base64').toString('utf8');
}

function textOf(event: IncomingEvent, name: string): string {
  const value: unknown = event[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
