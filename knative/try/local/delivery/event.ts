// A CloudEvent on its way through the broker: attributes as text and data as the bytes that came.
// Nothing is decoded, so nothing is lost. Read and written in binary and structured mode, as
// Knative's Go SDK does it.
import { parseLossless } from '../../../../shared/kube/json.ts';
import { isUtf8 } from 'node:buffer';
import {
  isAttributeValue,
  missingAttribute,
  nameProblem,
  valueProblem,
} from '../../../../shared/function/attributes.ts';
import { type ScannedHeaders, scanHeaders } from '../../../../shared/function/headers.ts';
import { parseMediaType } from '../../../../shared/function/media-type.ts';

export interface Event {
  /** All of them, `datacontenttype` included. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly data: Buffer;
}

export interface EventMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The message announces an event and holds none. */
export class InvalidEvent extends Error {
  override readonly name = 'InvalidEvent';
}

const STRUCTURED = 'application/cloudevents+json';
const BATCH = 'application/cloudevents-batch+json';
/** Everything else would end the header, or not fit into one. */
const UNSENDABLE = /[^\x20-\x7e]+/gu;
/**
 * The Go SDK reads these as absent when they are empty; an empty extension stays (cluster-scoped
 * `namespace`).
 */
const ABSENT_WHEN_EMPTY: ReadonlySet<string> = new Set([
  'subject',
  'dataschema',
  'datacontenttype',
]);

/** Undefined when the message is no event at all, as most HTTP answers are not. */
export function readEvent(rawHeaders: readonly string[], body: Buffer): Event | undefined {
  const headers = scanHeaders(rawHeaders);
  const essence = parseMediaType(headers.contentType ?? '')?.essence;
  if (essence === STRUCTURED) return checked(readStructured(body));
  if (essence === BATCH) throw new InvalidEvent('batches of events are not taken');
  return headers.attributes.has('specversion') ? checked(readBinary(headers, body)) : undefined;
}

function readBinary({ attributes, contentType }: ScannedHeaders, body: Buffer): Event {
  // Escapes stay as they were sent: the Go SDK does not decode them either, and filters compare
  // what it has.
  const entries = [...attributes].map(([name, value]) => [name, asText(value)]);
  const type = contentType === undefined ? {} : { datacontenttype: contentType };
  return { attributes: { ...Object.fromEntries(entries), ...type }, data: body };
}

/** node hands header bytes over as latin1; senders that do not escape write UTF-8. */
function asText(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : header;
}

function readStructured(body: Buffer): Event {
  const { data, data_base64: base64, ...rest } = parseObject(body);
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(rest)) {
    if (value === null) continue;
    if (!isAttributeValue(value)) {
      throw new InvalidEvent(`the attribute ${name} must be a text, a number or a boolean`);
    }
    attributes[name] = String(value);
  }
  if (typeof base64 === 'string') return { attributes, data: Buffer.from(base64, 'base64') };
  if (data === undefined) return { attributes, data: Buffer.alloc(0) };
  attributes['datacontenttype'] ??= 'application/json';
  const isJson = parseMediaType(attributes['datacontenttype'])?.isJson ?? false;
  const text = typeof data === 'string' && !isJson ? data : JSON.stringify(data);
  return { attributes, data: Buffer.from(text) };
}

function parseObject(body: Buffer): Record<string, unknown> {
  try {
    const value = parseLossless(body.toString('utf8'));
    if (isObject(value)) return value;
  } catch (cause) {
    throw new InvalidEvent('a structured event must be JSON', { cause });
  }
  throw new InvalidEvent('a structured event must be a JSON object');
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function checked({ attributes, data }: Event): Event {
  const present = Object.fromEntries(
    Object.entries(attributes).filter(
      ([name, value]) => value !== '' || !ABSENT_WHEN_EMPTY.has(name),
    ),
  );
  const missing = missingAttribute(present);
  if (missing !== undefined) throw new InvalidEvent(`the event has no ${missing}`);
  for (const [name, value] of Object.entries(present)) {
    const problem = nameProblem(name) ?? valueProblem(name, value);
    if (problem !== undefined) throw new InvalidEvent(`the event's ${name} is invalid: ${problem}`);
  }
  return { attributes: present, data };
}

export function withAttributes(event: Event, added: Readonly<Record<string, string>>): Event {
  return { ...event, attributes: { ...event.attributes, ...added } };
}

export function withoutAttribute(event: Event, name: string): Event {
  const { [name]: _, ...attributes } = event.attributes;
  return { ...event, attributes };
}

export function writeBinary({ attributes, data }: Event): EventMessage {
  const { datacontenttype, ...others } = attributes;
  const entries = Object.entries(others).map(([name, value]) => [`ce-${name}`, sendable(value)]);
  const type = datacontenttype === undefined ? {} : { 'content-type': sendable(datacontenttype) };
  return { headers: { ...Object.fromEntries(entries), ...type }, body: data };
}

export function writeStructured({ attributes, data }: Event): EventMessage {
  const media = parseMediaType(attributes['datacontenttype'] ?? '');
  const open = JSON.stringify(attributes).slice(0, -1);
  let tail = '}';
  // JSON goes in as it is: parsing it would round its large numbers.
  if (data.length > 0 && media?.isJson === true) tail = `,"data":${data.toString('utf8')}}`;
  else if (data.length > 0 && media?.isText === true) {
    tail = `,"data":${JSON.stringify(data.toString('utf8'))}}`;
  } else if (data.length > 0) tail = `,"data_base64":"${data.toString('base64')}"}`;
  return { headers: { 'content-type': STRUCTURED }, body: Buffer.from(open + tail) };
}

const sendable = (value: string): string =>
  value.replaceAll(UNSENDABLE, (part) => encodeURIComponent(part));
