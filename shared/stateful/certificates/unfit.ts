// Checks whether servers can show a certificate: it covers the right name, has not expired, has its
// key, and an authority in its `ca.crt` signed it; whether clients can ask with one; and whether
// servers would take one for a client's. Pure.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type CertificateFiles, certificatesIn, endsAtMs } from './secret-data.ts';

/** The reason why not; undefined when they can. */
export function unfit(
  { certificate, key, ca }: CertificateFiles,
  host: string,
  nowMs: number,
): string | undefined {
  return readable(certificate, (parsed) => {
    if (parsed.checkHost(host) === undefined) return `has a certificate that is not for ${host}`;
    if (hasExpired(certificate, nowMs)) return 'has a certificate that has expired';
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
    hasExpired(certificate, nowMs) ? 'has a certificate that has expired' : keyUnfit(parsed, key),
  );

/** For clients, and for all: the numbers of extended key usages. */
const ASKS = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];

/**
 * The reason why servers that trust `ca`, which is told as `where`, would not take it for a
 * client's. Members of etcd have to be taken for one as well: their gateway asks themselves.
 */
export const unfitAsClient = (
  { certificate, ca }: Omit<CertificateFiles, 'key'>,
  where = 'its ca.crt',
): string | undefined =>
  readable(certificate, ({ keyUsage }) => {
    // Absent where it may be used for everything, whatever its type says.
    const usages: readonly string[] | undefined = keyUsage;
    const isForClients = usages?.some((one) => ASKS.includes(one)) ?? true;
    if (!isForClients) return 'has a certificate that is good for servers alone';
    if (!isSignedIn(certificate, ca)) return `has a certificate that nobody in ${where} signed`;
    return undefined;
  });

/** False for one that cannot be read. */
export const hasExpired = (certificate: string, nowMs: number): boolean =>
  endsAtMs(certificate) < nowMs;

/** Some in `ca` signed it, and each of these has expired. */
export function authorityExpired(
  { certificate, ca }: Omit<CertificateFiles, 'key'>,
  nowMs: number,
): boolean {
  const lasting = certificatesIn(ca).filter((one) => !hasExpired(one, nowMs));
  return isSignedBy(certificate, ca) && !isSignedBy(certificate, lasting.join(''));
}

/** False for one that cannot be read. */
export function isSignedBy(certificate: string, ca: string): boolean {
  try {
    return isSignedIn(certificate, ca);
  } catch {
    return false;
  }
}

/** In PKCS#8, and as OpenSSL wrote keys before. */
const ENCRYPTED = /^(?:-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED)/m;

function keyUnfit(parsed: X509Certificate, key: string): string | undefined {
  if (ENCRYPTED.test(key)) return 'has a key that is encrypted, and nobody has its passphrase';
  return parsed.checkPrivateKey(createPrivateKey(key))
    ? undefined
    : 'has a key that does not belong to its certificate';
}

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
