// Turns the headers and body of a request into one valid CloudEvent, or throws the Failure that
// names what is wrong with it. Binary and structured mode give the same event; each body is
// decoded once.
import { quoted } from '../cut.ts';
import { Failure } from '../errors.ts';
import {
  ATTRIBUTES_BYTES_MAX,
  type AttributeValue,
  isAttributeValue,
  isUriReference,
  lengthProblem,
  missingAttribute,
  nameProblem,
  valueProblem,
} from './attributes.ts';
import { decodeBase64 } from './base64.ts';
import { assertNotEncoded } from './body.ts';
import type { IncomingEvent } from './define.ts';
import type { ScannedHeaders } from './headers.ts';
import { type Weigh, decodeJson, decodeText } from './json.ts';
import { type MediaType, parseMediaType } from './media-type.ts';
import { decodeHeaderValue } from './percent.ts';

export type EventMode = 'binary' | 'structured';
type Draft = Record<string, unknown>;

const CLOUDEVENTS = 'application/cloudevents';
const MODE_FIELD = 'content-type';

/**
 * Which kind of event the headers announce; undefined when they announce none, as a plain HTTP
 * call does.
 */
export function eventModeOf(headers: ScannedHeaders): EventMode | undefined {
  const essence = headers.contentType?.trim().toLowerCase();
  if (essence?.startsWith(CLOUDEVENTS) === true) return structuredMode(headers.contentType ?? '');
  return headers.attributes.size > 0 ? 'binary' : undefined;
}

function structuredMode(contentType: string): EventMode {
  const media = mediaTypeOf(contentType);
  if (media.essence === `${CLOUDEVENTS}+json`) return 'structured';
  if (media.essence.startsWith(`${CLOUDEVENTS}-batch`)) {
    const message =
      'Batches are not taken, since one answer cannot tell which of the events failed; ' +
      'send each event by itself.';
    throw new Failure('EVENT_BATCH_UNSUPPORTED', message, { field: MODE_FIELD });
  }
  const message =
    `The event format ${quoted(media.essence)} is not known here; send ${CLOUDEVENTS}+json or ` +
    'binary mode.';
  throw new Failure('CONTENT_TYPE_UNSUPPORTED', message, { field: MODE_FIELD });
}

export function parseEvent(
  headers: ScannedHeaders,
  mode: EventMode,
  body: Buffer,
  weigh?: Weigh,
): IncomingEvent {
  assertNotEncoded(headers.contentEncoding);
  return mode === 'binary'
    ? parseBinary(headers, body, weigh)
    : parseStructured(headers, body, weigh);
}

function parseBinary(headers: ScannedHeaders, body: Buffer, weigh?: Weigh): IncomingEvent {
  const draft: Draft = {};
  for (const [name, raw] of headers.attributes) setFromHeader(draft, name, raw);
  const event = completed(draft, 'ce-');
  const { contentType } = headers;
  if (contentType !== undefined) {
    event.datacontenttype = contentType;
    const media = mediaTypeOf(contentType);
    if (body.length > 0) event.data = decodeData(body, media, ['body', MODE_FIELD], weigh);
  } else if (body.length > 0) event.data = body;
  return event;
}

function setFromHeader(draft: Draft, name: string, raw: string): void {
  const field = `ce-${name}`;
  if (name === 'datacontenttype') {
    throw invalid(field, 'in binary mode this attribute is the Content-Type header itself');
  }
  const badName = nameProblem(name);
  if (badName !== undefined) throw invalid(field, badName);
  let value = decodeHeaderValue(raw);
  if (value === undefined) throw invalid(field, 'must be percent-encoded UTF-8');
  // Go's SDK sends URIs as they are: what is only a URI before decoding was never encoded for the
  // header.
  if (name === 'source' || name === 'dataschema') {
    if (!isUriReference(value) && isUriReference(raw)) value = raw;
  }
  setChecked(draft, name, value, field);
}

function parseStructured(headers: ScannedHeaders, body: Buffer, weigh?: Weigh): IncomingEvent {
  assertUtf8(mediaTypeOf(headers.contentType ?? ''), MODE_FIELD);
  const envelope = decodeJson(body, 'body', weigh);
  if (!isObject(envelope)) {
    const message = 'The body of a structured event is a JSON object; this one is something else.';
    throw new Failure('BODY_NOT_JSON', message, { field: 'body' });
  }
  const draft: Draft = {};
  const { data, data_base64: base64, ...attributes } = envelope;
  let sizeBytes = 0;
  for (const [name, value] of Object.entries(attributes)) {
    sizeBytes +=
      Buffer.byteLength(name) + (typeof value === 'string' ? Buffer.byteLength(value) : 0);
    if (sizeBytes > ATTRIBUTES_BYTES_MAX) throw tooMany();
    const badName = nameProblem(name);
    if (badName !== undefined) throw invalid(name, badName);
    // The JSON format reads null as absent.
    if (value === null) continue;
    if (!isAttributeValue(value)) throw invalid(name, 'must be a string, a number or a boolean');
    setChecked(draft, name, value, name);
  }
  const event = completed(draft, '');
  if (base64 !== undefined && base64 !== null) {
    if (data !== undefined) {
      throw invalid('data_base64', 'an event has data or data_base64, never both');
    }
    event.data = dataOf(event.datacontenttype, base64, weigh);
  } else if (data !== undefined) event.data = data;
  return event;
}

function dataOf(contentType: string | undefined, base64: unknown, weigh?: Weigh): unknown {
  const field = 'data_base64';
  const bytes = decodeBase64(base64);
  if (bytes === undefined) throw invalid(field, 'must be a string in base64');
  if (contentType === undefined) return bytes;
  return decodeData(bytes, mediaTypeOf(contentType), [field, 'datacontenttype'], weigh);
}

/** JSON becomes a value, text a string, everything else stays bytes: the same in both modes. */
function decodeData(
  bytes: Buffer,
  media: MediaType,
  [field, typeField]: readonly [string, string],
  weigh?: Weigh,
): unknown {
  if (media.isJson) {
    assertUtf8(media, typeField);
    return decodeJson(bytes, field, weigh);
  }
  if (!media.isText) return bytes;
  assertUtf8(media, typeField);
  return decodeText(bytes, field);
}

function assertUtf8(media: MediaType, field: string): void {
  const { charset } = media;
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii')
    return;
  const [other, type] = [quoted(charset), quoted(media.essence)];
  const message = `The charset ${other} is not read here; send ${type} as UTF-8.`;
  throw new Failure('CONTENT_TYPE_UNSUPPORTED', message, { field });
}

function mediaTypeOf(contentType: string): MediaType {
  const tooLong = lengthProblem(contentType);
  if (tooLong !== undefined) throw invalid(MODE_FIELD, tooLong);
  const media = parseMediaType(contentType);
  if (media === undefined) throw invalid(MODE_FIELD, 'must be a media type');
  return media;
}

function setChecked(draft: Draft, name: string, value: AttributeValue, field: string): void {
  const problem = valueProblem(name, value);
  if (problem !== undefined) throw invalid(field, problem);
  draft[name] = value;
}

function invalid(field: string, problem: string): Failure {
  const message = `The event's ${quoted(field)} is not valid: ${problem}.`;
  return new Failure('EVENT_ATTRIBUTE_INVALID', message, { field });
}

function tooMany(): Failure {
  const message =
    `The attributes of the event are larger than ${ATTRIBUTES_BYTES_MAX} bytes together; what ` +
    'is large belongs into its data.';
  return new Failure('EVENT_ATTRIBUTE_INVALID', message, { field: 'attributes' });
}

function completed(draft: Draft, prefix: string): IncomingEvent {
  if (isComplete(draft)) return draft;
  const field = `${prefix}${missingAttribute(draft)}`;
  const message = `The event has no ${field}; CloudEvents 1.0 requires it.`;
  throw new Failure('EVENT_ATTRIBUTE_MISSING', message, { field });
}

/** Each attribute that is there has been checked when it was set. */
const isComplete = (draft: Draft): draft is Draft & IncomingEvent =>
  missingAttribute(draft) === undefined;

const isObject = (value: unknown): value is Draft =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
