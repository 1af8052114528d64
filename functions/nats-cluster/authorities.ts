// The authorities of the certificates that we make: the one that signs now, the next one, which
// servers and clients are given long before it signs, and the former one until it ends. Time alone
// decides which is which.
import { randomBytes, X509Certificate } from 'node:crypto';
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
  const known = knownAt(nowMs, before);
  const bundle = new Set([signer.certPem, ...(next === undefined ? [] : [next.certPem]), ...known]);
  const data = {
    'ca.crt': [...bundle].join(''),
    'ca.key': signer.keyPem,
    ...(next === undefined ? {} : nextIn(next)),
  };
  return { signer, data };
}

/**
 * The key of the one that signed is lost, and what it signed still serves: servers and clients are
 * given the next one, which signs when all had time to take it.
 */
export function successorOf(cluster: Cluster, nowMs: number, before: SecretData): Authorities {
  const signer = newAuthority(cluster, nowMs);
  const bundle = [...knownAt(nowMs, before), signer.certPem].join('');
  return {
    signer,
    data: { 'ca.crt': bundle, ...nextIn(signer) },
  };
}

const nextIn = ({ certPem, keyPem }: Identity): SecretData => ({
  'next-ca.crt': certPem,
  'next-ca.key': keyPem,
});

const knownAt = (nowMs: number, data: SecretData): readonly string[] =>
  certificatesIn(data['ca.crt']).filter((one) => endsAtMs(one) > nowMs);

/** The present one can sign. */
export const hasKey = (data: SecretData): boolean => identityIn(data, '') !== undefined;

/** That one, or the next. */
export const hasSigner = (data: SecretData): boolean =>
  hasKey(data) || identityIn(data, 'next-') !== undefined;

function identityIn(data: SecretData, prefix: string): Identity | undefined {
  const [certPem] = certificatesIn(data[`${prefix}ca.crt`]);
  const keyPem = data[`${prefix}ca.key`] ?? '';
  return certPem === undefined || keyPem === '' ? undefined : { certPem, keyPem };
}

/**
 * No two have the same name: OpenSSL looks for who signed a certificate by name, and does not try
 * a second one.
 */
const newAuthority = (cluster: Cluster, nowMs: number): Identity =>
  makeAuthority(
    `NatsCluster ${randomBytes(4).toString('hex')} ${nameIn(cluster)}`,
    forDays(nowMs, AUTHORITY_DAYS),
  );

const nameIn = ({ namespace, name }: Cluster): string => `${namespace}/${name}`;

/** By its name, which nobody else gives. */
export function isOfCluster(cluster: Cluster, certificate: string): boolean {
  if (Number.isNaN(endsAtMs(certificate))) return false;
  const { CN: name } = new X509Certificate(certificate).toLegacyObject().subject;
  const [first, , whose] = String(name).split(' ');
  return first === 'NatsCluster' && whose === nameIn(cluster);
}
