// A signature that openssl verifies: ECDSA on P-256 over SHA-256, as DER.
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { UsageError } from '../../../shared/arguments.ts';

const OTHERWISE = 'leave it out and sign SHA256SUMS where the key is: docs/release.md';

export async function signingKey(path: string): Promise<KeyObject> {
  const pem = await readFile(path).catch((error: unknown) => {
    throw new UsageError(`--sign-with: ${String(error)}`);
  });
  const key = keyIn(pem, path);
  if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key;
  throw new UsageError(`--sign-with: ${path} is no key on P-256 (prime256v1); ${OTHERWISE}`);
}

function keyIn(pem: Buffer, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // OpenSSL's own words differ from version to version.
    const kinds = 'no private key in PEM, or has a passphrase';
    throw new UsageError(`--sign-with: ${path} is ${kinds}; ${OTHERWISE}`);
  }
}

export const signatureOf = (content: Buffer, key: KeyObject): Buffer =>
  sign('sha256', content, key);
