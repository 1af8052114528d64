// The authorities of the certificates that we make: the one that signs now, the next one, which
// servers and clients are given long before it signs, and the former one until it ends. Time alone
// decides which is which.
import { randomBytes } from 'node:crypto';
import { type Identity, makeAuthority, type Validity } from '../../shared/x509.ts';
import type { Cluster } from './cluster.ts';
import { certificatesIn, endsAtMs, type SecretData } from './secret-data.ts';

export const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
/** Whoever has a copy of `ca.crt` has most of this time to fetch the one with both. */
const SUCCESSOR_BEFORE_DAYS = 365;
/** For clocks that are behind ours. */
const BEFORE_MS = 3_600_000;

export interface Authorities {
  readonly signer: Identity;
  /** As a Secret keeps them; `ca.crt` begins with the one that signs. */
  readonly data: SecretData;
}

export const forDays = (nowMs: number, days: number): Validity => ({
  fromMs: nowMs - BEFORE_MS,
  toMs: nowMs + days * DAY_MS,
});

/** Those that sign for so many days, after what stands in the Secret, or the first ones. */
export function authoritiesAt(
  cluster: Cluster,
  nowMs: number,
  signsForDays: number,
  before: SecretData = {},
): Authorities {
  const lasts = (one: Identity | undefined, days: number): one is Identity =>
    endsAtMs(one?.certPem) - nowMs > days * DAY_MS;
  const current = identityIn(before, '');
  const planned = identityIn(before, 'next-');
  const signer =
    [current, planned].find((one) => lasts(one, signsForDays)) ?? newAuthority(cluster, nowMs);
  const isToPlan = signer === current && !lasts(current, SUCCESSOR_BEFORE_DAYS);
  const next = isToPlan ? (planned ?? newAuthority(cluster, nowMs)) : undefined;
  const known = certificatesIn(before['ca.crt']).filter((one) => endsAtMs(one) > nowMs);
  const bundle = new Set([signer.certPem, ...(next === undefined ? [] : [next.certPem]), ...known]);
  const data = {
    'ca.crt': [...bundle].join(''),
    'ca.key': signer.keyPem,
    ...(next === undefined ? {} : { 'next-ca.crt': next.certPem, 'next-ca.key': next.keyPem }),
  };
  return { signer, data };
}

function identityIn(data: SecretData, prefix: string): Identity | undefined {
  const [certPem] = certificatesIn(data[`${prefix}ca.crt`]);
  const keyPem = data[`${prefix}ca.key`] ?? '';
  return certPem === undefined || keyPem === '' ? undefined : { certPem, keyPem };
}

/**
 * No two have the same name: OpenSSL looks for who signed a certificate by name, and does not try
 * a second one.
 */
const newAuthority = ({ namespace, name }: Cluster, nowMs: number): Identity =>
  makeAuthority(
    `NatsCluster ${randomBytes(4).toString('hex')} ${namespace}/${name}`,
    forDays(nowMs, AUTHORITY_DAYS),
  );
