// How CloudEvents 1.0.2 writes attribute values into HTTP headers (HTTP binding, 3.1.3.2): quoted
// strings are unquoted, then percent sequences are decoded once as UTF-8; on the way out
// everything else is encoded.
import { isUtf8 } from 'node:buffer';

const IS_PLAIN = /^[\x20\x21\x23\x24\x26-\x7e]*$/;
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/s;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const MUST_ESCAPE = /[^\x21\x23\x24\x26-\x7e]+/gu;

/**
 * Undefined when the value cannot be what any sender meant: a broken sequence, or bytes that are
 * not UTF-8.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (IS_PLAIN.test(value)) return value;
  const unquoted = QUOTED.exec(value)?.[1]?.replaceAll(/\\(.)/gs, '$1') ?? value;
  if (BAD_ESCAPE.test(unquoted)) return undefined;
  // node hands header bytes over as latin1, so that sloppy senders' raw UTF-8 can be put together
  // again.
  const escaped = unquoted.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const bytes = Buffer.from(escaped, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

export function encodeHeaderValue(value: string): string {
  return value.replaceAll(MUST_ESCAPE, (part) =>
    // encodeURIComponent leaves nothing of what must be escaped; space, quote and percent are
    // among it.
    encodeURIComponent(part),
  );
}
