// The answer to an event: 204, or exactly one CloudEvent in binary mode. Never JSON, which a
// broker would count as a failed delivery.
import type { ServerResponse } from 'node:http';
import { Failure } from '../errors.ts';
import { isAttributeValue, missingAttribute, nameProblem, valueProblem } from './attributes.ts';
import type { OutgoingEvent } from './define.ts';
import { decodeBase64 } from './base64.ts';
import { parseMediaType } from './media-type.ts';
import { encodeHeaderValue } from './percent.ts';
import { EVERY_TYPE } from './sources.ts';

const DEFAULT_CONTENT_TYPE = 'application/json';

export interface ReplyRules {
  /**
   * A reply of a type that this function wakes on would come back through the broker, 255 times
   * over.
   */
  readonly wakesOn: ReadonlySet<string>;
  readonly traceparent: string | undefined;
}

export function sendNothing(response: ServerResponse): void {
  response.writeHead(204).end();
}

/** Throws a bug, before a byte is sent, when the event is not one that may go out. */
export function sendEvent(response: ServerResponse, event: OutgoingEvent, rules: ReplyRules): void {
  const headers = attributeHeaders(event, rules);
  const contentType = event.datacontenttype ?? DEFAULT_CONTENT_TYPE;
  const body = bodyOf(event, contentType);
  if (body.length > 0) headers['content-type'] = contentType;
  headers['content-length'] = body.length;
  response.writeHead(200, headers).end(body);
}

function attributeHeaders(
  event: OutgoingEvent,
  rules: ReplyRules,
): Record<string, string | number> {
  const wakesAgain = rules.wakesOn.has(event.type) || rules.wakesOn.has(EVERY_TYPE);
  if (wakesAgain) throw bad(`its type ${event.type} wakes this very function`);
  // The SDK's class adds these fields beside the attributes.
  const { data: _data, data_base64: _base64, datacontenttype: _type, ...attributes } = event;
  const headers: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null) continue;
    if (!isAttributeValue(value)) throw bad(`its ${name} is neither text, number nor boolean`);
    const problem = nameProblem(name) ?? valueProblem(name, value);
    if (problem !== undefined) throw bad(`its ${name} ${problem}`);
    headers[`ce-${name}`] = encodeHeaderValue(String(value));
  }
  const missing = missingAttribute(attributes);
  if (missing !== undefined) throw bad(`it has no ${missing}`);
  if (rules.traceparent !== undefined) headers['ce-traceparent'] ??= rules.traceparent;
  return headers;
}

function bodyOf({ data, data_base64: base64 }: OutgoingEvent, contentType: string): Buffer {
  const media = parseMediaType(contentType);
  if (media === undefined) throw bad(`its datacontenttype ${contentType} is not a media type`);
  // The SDK's class keeps bytes as both; they are the same.
  if (data === undefined && base64 !== undefined) {
    const bytes = decodeBase64(base64);
    if (bytes === undefined) throw bad('its data_base64 is not base64');
    return bytes;
  }
  if (data === undefined) return Buffer.alloc(0);
  if (data instanceof Uint8Array) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (media.isJson) return Buffer.from(JSON.stringify(data));
  if (typeof data === 'string') return Buffer.from(data);
  throw bad(`its data is neither text nor bytes, as ${contentType} asks`);
}

const bad = (why: string): Failure =>
  new Failure('REPLY_INVALID', `The handler's reply cannot be sent: ${why}.`);
