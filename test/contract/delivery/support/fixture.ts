// An event as it came from the adapter, without what differs from run to run. The recorded ones in
// test/fixtures/adapter are held against the real adapter here, and used by the unit tests.
import type { Received } from './scripted-sink.ts';

export interface RecordedEvent {
  readonly headers: Readonly<Record<string, string>>;
  /** `JSON.stringify` makes the adapter's own bytes of it again: fields keep their order. */
  readonly body: unknown;
}

const FIXED: Readonly<Record<string, string>> = {
  'ce-id': '9d7a32f5-6c27-4d39-8a52-0a9f4b6f0d11',
  'ce-time': '2026-01-02T03:04:05.678901234Z',
  'ce-source': 'https://10.96.0.1:443',
};
const HOP_BY_HOP: ReadonlySet<string> = new Set(['host', 'content-length', 'connection']);

/** The text of the fixture file. */
export function recorded({ headers, body }: Received): string {
  const entries = Object.entries(headers)
    .filter(([name]) => !HOP_BY_HOP.has(name))
    .map(([name, value]) => [name, FIXED[name] ?? String(value)]);
  const event: RecordedEvent = {
    headers: Object.fromEntries(entries),
    body: JSON.parse(steady(body)),
  };
  return `${JSON.stringify(event, null, 2)}\n`;
}

/** As text, so that what stands anywhere in the object is found. */
function steady(body: string): string {
  return body
    .replaceAll(/("uid":)"[^"]*"/g, '$1"0b6c1ff0-2a52-4a3e-9b6e-2f4f3d1c5e77"')
    .replaceAll(/("resourceVersion":)"\d+"/g, '$1"4711"')
    .replaceAll(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/g, '"2026-01-02T03:04:05Z"')
    .replaceAll(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-abcde');
}
