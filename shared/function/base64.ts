// Base64 as RFC 4648 has it, with padding: Buffer reads anything and leaves out what it does not
// understand.

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Undefined when it is none. */
export function decodeBase64(value: unknown): Buffer | undefined {
  if (typeof value !== 'string' || !BASE64.test(value)) return undefined;
  return Buffer.from(value, 'base64');
}
