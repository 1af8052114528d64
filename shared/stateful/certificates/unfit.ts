// Checks whether servers can show a certificate: it covers the right name, has not expired, has its
// key, and an authority in its `ca.crt` signed it; and whether clients can ask with one. Pure.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type CertificateFiles, certificatesIn } from './secret-data.ts';

/** The reason why not; undefined when they can. */
export function unfit(
  { certificate, key, ca }: CertificateFiles,
  host: string,
  nowMs: number,
): string | undefined {
  return readable(certificate, (parsed) => {
    if (parsed.checkHost(host) === undefined) return `has a certificate that is not for ${host}`;
    if (hasExpired(parsed, nowMs)) return 'has a certificate that has expired';
    if (!isSignedIn(certificate, ca)) return 'has a certificate that nobody in its ca.crt signed';
    return keyUnfit(parsed, key);
  });
}

/** The reason why nobody can ask servers with it, whomever they trust. */
export const unfitToAsk = (
  { certificate, key }: Omit<CertificateFiles, 'ca'>,
  nowMs: number,
): string | undefined =>
  readable(certificate, (parsed) =>
    hasExpired(parsed, nowMs) ? 'has a certificate that has expired' : keyUnfit(parsed, key),
  );

const hasExpired = ({ validToDate }: X509Certificate, nowMs: number): boolean =>
  validToDate.getTime() < nowMs;

const keyUnfit = (parsed: X509Certificate, key: string): string | undefined =>
  parsed.checkPrivateKey(createPrivateKey(key))
    ? undefined
    : 'has a key that does not belong to its certificate';

function readable(
  certificate: string,
  judge: (parsed: X509Certificate) => string | undefined,
): string | undefined {
  try {
    return judge(new X509Certificate(certificate));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `has no certificate and key that can be read (${reason})`;
  }
}

/**
 * True when an authority in ca.crt signed it, directly or through intermediates that come with it.
 */
function isSignedIn(certificate: string, ca: string): boolean {
  const [own, ...between] = certificatesIn(certificate).map((one) => new X509Certificate(one));
  const authorities = certificatesIn(ca).map((one) => new X509Certificate(one));
  const hasSigned = (one: X509Certificate, by: X509Certificate): boolean =>
    one.checkIssued(by) && one.verify(by.publicKey);
  let last = own;
  for (let links = 0; last !== undefined && links <= between.length; links += 1) {
    const signed = last;
    // A certificate that ca.crt lists is trusted directly.
    const isKnown = authorities.some((one) => one.raw.equals(signed.raw) || hasSigned(signed, one));
    if (isKnown) return true;
    last = between.find((one) => one !== signed && hasSigned(signed, one));
  }
  return false;
}
