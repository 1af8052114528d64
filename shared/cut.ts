// Text of others, where it is shown or remembered: never more bytes of it than its place is for.

const ELLIPSIS = '…';
const ELLIPSIS_BYTES = 3;
/** No character of UTF-16 takes more in UTF-8. */
const BYTES_PER_CHARACTER_MAX = 3;

/** Looks at short texts no further than their length. */
export function isLongerThan(text: string, bytesMax: number): boolean {
  if (text.length * BYTES_PER_CHARACTER_MAX <= bytesMax) return false;
  return text.length > bytesMax || Buffer.byteLength(text) > bytesMax;
}

/** The text as it is, or its beginning with an ellipsis; never cut within a character. */
export function cut(text: string, bytesMax: number): string {
  if (!isLongerThan(text, bytesMax)) return text;
  // A character is a byte at least, so that the rest of megabytes need not be encoded.
  const bytes = Buffer.from(text.slice(0, bytesMax));
  const kept = bytes.subarray(0, bytesMax - ELLIPSIS_BYTES);
  return `${new TextDecoder().decode(kept, { stream: true })}${ELLIPSIS}`;
}

/** As much of a name, a type or a path as a sentence can quote. */
const QUOTED_BYTES_MAX = 128;

export const quoted = (text: string): string => cut(text, QUOTED_BYTES_MAX);
