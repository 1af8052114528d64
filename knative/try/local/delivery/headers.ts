// Which HTTP headers travel with an event from sender to subscriber and from reply to the next
// subscriber.

const NAMES: ReadonlySet<string> = new Set([
  'x-request-id',
  'retry-after',
  'traceparent',
  'tracestate',
]);
const PREFIXES = ['knative-', 'x-b3-'] as const;

export function passThrough(rawHeaders: readonly string[]): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!NAMES.has(name) && !PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    passed[name] ??= rawHeaders[index + 1] ?? '';
  }
  return passed;
}
