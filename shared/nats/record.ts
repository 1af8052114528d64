// The first question about JSON that came from a server. Doors share nothing, so it is asked here.

/** An object of JSON, and neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
