// Feeds headers and a body to the parser as node's listener does, for the tests of events.
import type { IncomingEvent } from '../../../shared/function/define.ts';
import { eventModeOf, parseEvent } from '../../../shared/function/event.ts';
import { scanHeaders } from '../../../shared/function/headers.ts';

export const required: Readonly<Record<string, string>> = {
  'ce-specversion': '1.0',
  'ce-id': '1',
  'ce-source': '/tests',
  'ce-type': 'dev.ballast.test',
};

export function readEvent(
  headers: Readonly<Record<string, string>>,
  body: string | Buffer = '',
): IncomingEvent {
  const scanned = scanHeaders(Object.entries(headers).flat());
  const mode = eventModeOf(scanned);
  if (mode === undefined) throw new Error('The headers announce no event.');
  return parseEvent(scanned, mode, Buffer.from(body));
}

export const readBinary = (contentType: string, body: string | Buffer): IncomingEvent =>
  readEvent({ ...required, 'content-type': contentType }, body);

export function readStructured(
  event: Readonly<Record<string, unknown>>,
  contentType = 'application/cloudevents+json',
): IncomingEvent {
  const envelope = { specversion: '1.0', id: '1', source: '/tests', type: 'dev.ballast.test' };
  return readEvent({ 'content-type': contentType }, JSON.stringify({ ...envelope, ...event }));
}
