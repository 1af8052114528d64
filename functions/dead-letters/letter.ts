// Reads a dead letter: an event that a broker gave up on, with what the broker says about why.
// Pure. Whatever is missing or makes no sense is left out; a letter is never refused, since nobody
// would send it again.
import { type ErrorCode, errorTable } from '../../shared/errors.ts';
import type { IncomingEvent } from '../../shared/function/define.ts';

/** The object that the event was about, as its sender named it. */
export interface Subject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Undefined for kinds that belong to no namespace. */
  readonly namespace: string | undefined;
  /** Known when the event carries the very object; `kubectl describe` finds events by it. */
  readonly uid: string | undefined;
}

export interface Letter {
  readonly type: string;
  /** The function that did not take the event; `unknown` when it is none that is known. */
  readonly functionName: string;
  /** The HTTP status that it answered; `none` when nothing tells, `other` for a rare one. */
  readonly status: string;
  /** The code of a Ballast failure, when the answer held one: docs/errors.md explains it. */
  readonly code: ErrorCode | undefined;
  /** What the answer said, for people. */
  readonly said: string;
  readonly subject: Subject | undefined;
}

const UNKNOWN = 'unknown';
const UID = /^[\w-]{1,64}$/;
/** What functions, proxies and brokers answer; made-up ones would each be a series. */
const STATUSES: ReadonlySet<string> = new Set([
  ...Object.values(errorTable).map(({ status }) => String(status)),
  '408',
  '409',
  '429',
  '500',
  '502',
  '504',
]);
/** Answers are other people's text: as much of one as a line of kubectl shows. */
const SAID_CHARS_MAX = 400;
/** A broker cuts the answer off at 768 bytes, so it may be no JSON any more. */
const CODE = /"code":"([A-Z][A-Z0-9_]{1,62})"/;
const DETAIL = /"detail":"((?:[^"\\]|\\.)*)/;

/** `known` are the functions that are told apart: anybody can write a name. */
export function readLetter(event: IncomingEvent, known: ReadonlySet<string>): Letter {
  const answer = decoded(textOf(event, 'knativeerrordata'));
  return {
    type: event.type,
    functionName: functionOf(event, known),
    status: statusOf(textOf(event, 'knativeerrorcode')),
    code: codeIn(answer),
    said: saidBy(answer),
    subject: subjectOf(event),
  };
}

/** Our sources write the name of the function on each event; else the host that failed is it. */
function functionOf(event: IncomingEvent, known: ReadonlySet<string>): string {
  const host = URL.parse(textOf(event, 'knativeerrordest'))?.hostname.split('.')[0] ?? '';
  const names = [textOf(event, 'ballastfunction'), host];
  return names.find((name) => known.has(name)) ?? UNKNOWN;
}

function statusOf(text: string): string {
  if (STATUSES.has(text)) return text;
  return /^[1-5]\d\d$/.test(text) ? 'other' : 'none';
}

function codeIn(answer: string): ErrorCode | undefined {
  const found = CODE.exec(answer)?.[1] ?? '';
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

/** Only of the very object that the attributes name: whoever has it may read it. */
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

function saidBy(answer: string): string {
  const detail = DETAIL.exec(answer)?.[1]?.replaceAll('\\"', '"');
  const text = (detail ?? answer).replaceAll(/\s+/g, ' ').trim();
  return text.length > SAID_CHARS_MAX ? `${text.slice(0, SAID_CHARS_MAX)}…` : text;
}

/** Base64, as Knative writes it; what is none has been put there by somebody else. */
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
