// JSON that came from outside, before anybody knows what it is.

declare global {
  /** In V8 since Node 22, and not yet in TypeScript's library. */
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): unknown;
  }
}

/**
 * An integer that a JavaScript number may not hold exactly; a match inside a text costs time only.
 */
const LONG_INTEGER = /[:[,]\s*-?\d{16}/;

/**
 * As JSON.parse, but an integer beyond 2^53 stays what was written: it becomes a raw JSON value,
 * which JSON.stringify writes again digit by digit. Objects may hold any 64-bit integer.
 */
export function parseLossless(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, { source }) => {
    const isRounded = typeof value === 'number' && !Number.isSafeInteger(value);
    return isRounded && source !== undefined && /^-?\d+$/.test(source)
      ? JSON.rawJSON(source)
      : value;
  });
}

/** Why a text is not JSON, without a word of it: the parser's own message quotes the text. */
export function describeNotJson(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const position = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
  const where = position === undefined ? '' : `, at position ${position}`;
  return `${text.length} characters that are not JSON${where}`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text, or nothing: for fields that ought to be text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
