// Reads a dead letter: an event that a broker gave up on, with what the broker says about why.
// Pure. Whatever is missing or makes no sense is left out; a letter is never refused, since nobody
// would send it again.
import type { IncomingEvent } from '../../shared/function/define.ts';

/** The object that the event was about, as its sender named it. */
export interface Subject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Undefined for kinds that belong to no namespace. */
  readonly namespace: string | undefined;
  /** Known when the event carries its object; `kubectl describe` finds events by it. */
  readonly uid: string | undefined;
}

export interface Letter {
  readonly type: string;
  /** The function that did not take the event; `unknown` when nothing tells. */
  readonly functionName: string;
  /** The HTTP status that it answered; `none` when nothing tells. */
  readonly status: string;
  /** The code of a Ballast failure, when the answer held one: docs/errors.md explains it. */
  readonly code: string | undefined;
  /** What the answer said, for people. */
  readonly said: string;
  readonly subject: Subject | undefined;
}

const UNKNOWN = 'unknown';
const FUNCTION_NAME = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Answers are other people's text: as much of one as a line of kubectl shows. */
const SAID_CHARS_MAX = 400;
/** A broker cuts the answer off at 768 bytes, so it may be no JSON any more. */
const CODE = /"code":"([A-Z][A-Z0-9_]{1,62})"/;
const DETAIL = /"detail":"((?:[^"\\]|\\.)*)/;

export function readLetter(event: IncomingEvent): Letter {
  const answer = decoded(textOf(event, 'knativeerrordata'));
  const status = textOf(event, 'knativeerrorcode');
  return {
    type: event.type,
    functionName: functionOf(event),
    status: /^\d{3}$/.test(status) ? status : 'none',
    code: CODE.exec(answer)?.[1],
    said: saidBy(answer),
    subject: subjectOf(event),
  };
}

/** Our sources write the name of the function on each event; else the host that failed is it. */
function functionOf(event: IncomingEvent): string {
  const host = URL.parse(textOf(event, 'knativeerrordest'))?.hostname.split('.')[0] ?? '';
  const names = [textOf(event, 'ballastfunction'), host];
  return names.find((name) => FUNCTION_NAME.test(name)) ?? UNKNOWN;
}

function subjectOf(event: IncomingEvent): Subject | undefined {
  const [apiVersion, kind, name] = ['apiversion', 'kind', 'name'].map((key) => textOf(event, key));
  if (!apiVersion || !kind || !name) return undefined;
  const namespace = textOf(event, 'namespace') || undefined;
  return { apiVersion, kind, name, namespace, uid: uidIn(event.data, name) };
}

/** Only of the very object that the attributes name. */
function uidIn(data: unknown, name: string): string | undefined {
  if (!isObject(data) || !isObject(data['metadata'])) return undefined;
  const { metadata } = data;
  return metadata['name'] === name && typeof metadata['uid'] === 'string'
    ? metadata['uid']
    : undefined;
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
