// JSON that came from outside, before anybody knows what it is.

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text, or nothing: for fields that ought to be text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
