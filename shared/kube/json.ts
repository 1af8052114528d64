// JSON that came from outside, before anybody knows what it is.

declare global {
  /** In V8 since Node 22, and not yet in TypeScript's library. */
  interface JSON {
    rawJSON(text: string): unknown;
  }
}

/** An integer that a JavaScript number may not hold exactly; it may stand inside a text. */
const LONG_INTEGER = /[:[,]\s*-?\d{16}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
const INTEGER = /^-?[1-9]\d{15,}$/;

/**
 * As JSON.parse, but an integer beyond 2^53 stays what was written: it becomes a raw JSON value,
 * which JSON.stringify writes again digit by digit. Objects may hold any 64-bit integer. A reviver
 * would see the digits too, and take four times the memory: more than a function has, for one
 * object of a tenant.
 */
export function parseLossless(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text);
  // Nobody else knows the mark, so that no text can begin with it.
  const mark = `${crypto.randomUUID()} `;
  const marked = withMarked(text, mark);
  const value: unknown = JSON.parse(marked);
  return marked === text ? value : restored(value, mark);
}

/** Integers that a number cannot hold become texts that begin with the mark. */
function withMarked(text: string, mark: string): string {
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    const quote = text.indexOf('"', start);
    const end = quote === -1 ? text.length : endOfText(text, quote);
    const between = text.slice(start, quote === -1 ? end : quote);
    parts.push(
      between.replaceAll(NUMBER, (one) =>
        INTEGER.test(one) && !Number.isSafeInteger(Number(one)) ? `"${mark}${one}"` : one,
      ),
    );
    if (quote !== -1) parts.push(text.slice(quote, end));
    start = end;
  }
  return parts.join('');
}

/** The index after the quote that closes the text which this one opens. */
function endOfText(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Objects may be nested deeper than functions may call each other, so they wait in a list. */
function restored(value: unknown, mark: string): unknown {
  const root = { value };
  const open: Record<string, unknown>[] = [root];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const name of Object.keys(one)) {
      const below = one[name];
      if (isNested(below)) open.push(below);
      else if (typeof below === 'string' && below.startsWith(mark)) {
        one[name] = JSON.rawJSON(below.slice(mark.length));
      }
    }
  }
  return root.value;
}

/** Lists too: their indexes are names. */
const isNested = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

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
