// Why NATS cannot be spoken with, in the words of somebody who has to do something about it. Pure.
import type { NatsAccess } from './access.ts';
import { isRecord } from './record.ts';

/** Ends the sentence that `NATS at host:port` begins; `from` is where the access was read. */
export function whyNot(cause: unknown, access: NatsAccess, from: string): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  const code = isRecord(cause) && typeof cause['code'] === 'string' ? cause['code'] : '';
  if (REFUSALS.has(code)) {
    return `does not take the credentials that it is shown; correct them here or there (${text})`;
  }
  if (code === NO_TLS) {
    return 'does not speak TLS, which a url with tls:// asks for, and so does ca.crt or tls.crt';
  }
  if (code === OTHER_NAME) {
    return `shows a certificate for another name; put one of its names into the url (${text})`;
  }
  if (OUT_OF_TIME.has(code)) return `shows a certificate that is not valid now; renew it (${code})`;
  if (code === SILENT && access['ca.crt'] !== undefined && access['tls.crt'] === undefined) {
    const wish = 'where it wants a certificate of ours, add tls.crt and tls.key to';
    return `says nothing over TLS; ${wish} ${from}`;
  }
  if (!UNKNOWN_SIGNER.has(code)) return `cannot be reached (${text})`;
  const signer =
    access['ca.crt'] === undefined
      ? 'an authority that this program does not know; add the authority as ca.crt to'
      : 'none of the authorities in ca.crt; put the right one into';
  return `shows a certificate of ${signer} ${from} (${code})`;
}

/** The client's words, whose enums would have to be loaded before they are needed. */
const REFUSALS: ReadonlySet<string> = new Set([
  'AUTHORIZATION_VIOLATION',
  'AUTHENTICATION_EXPIRED',
  'ACCOUNT_EXPIRED',
]);
const NO_TLS = 'SERVER_OPT_NA';
/** With TLS 1.3 a server that misses a certificate closes what is open already. */
const SILENT = 'TIMEOUT';
/** Error codes of Node and OpenSSL. */
const OTHER_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
const OUT_OF_TIME: ReadonlySet<string> = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);
const UNKNOWN_SIGNER: ReadonlySet<string> = new Set([
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'INVALID_CA',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
