// The authorities of managed certificates: the one that signs now, the next one, which servers and
// clients are given long before it signs, and the former one until it ends. Time alone decides
// which is which.
import { randomBytes, X509Certificate } from 'node:crypto';
import { type Identity, makeAuthority, NAME_MAX, type Validity } from '../../x509.ts';
import type { Owner } from '../parts.ts';
import { certificatesIn, endsAtMs, type SecretData } from './secret-data.ts';

/** The owner as its authorities are named after it. */
export type OwnerName = Pick<Owner, 'kind' | 'namespace' | 'name'>;

export const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
/**
 * Clients with a copy of `ca.crt` have most of this time to fetch the one with both authorities.
 */
const SUCCESSOR_BEFORE_DAYS = 365;
/** For clocks that are behind ours. */
const BEFORE_MS = 3_600_000;

export interface Authorities {
  readonly signer: Identity;
  /** As a Secret keeps them; `ca.crt` begins with the one that signs. */
  readonly data: SecretData;
}

/** The fields of a Secret in which they stand. */
export const OF_AUTHORITIES = ['ca.crt', 'ca.key', 'next-ca.crt', 'next-ca.key'] as const;

export const forDays = (nowMs: number, days: number): Validity => ({
  fromMs: nowMs - BEFORE_MS,
  toMs: nowMs + days * DAY_MS,
});

/** Authorities that can sign for so many days, from the Secret where it has them; else new ones. */
export function authoritiesAt(
  owner: OwnerName,
  nowMs: number,
  signsForDays: number,
  before: SecretData = {},
): Authorities {
  const lasts = (one: Identity | undefined, days: number): one is Identity =>
    endsAtMs(one?.certPem) - nowMs > days * DAY_MS;
  const current = identityIn(before, '');
  const planned = identityIn(before, 'next-');
  const signer =
    [current, planned].find((one) => lasts(one, signsForDays)) ?? newAuthority(owner, nowMs);
  const isToPlan = signer === current && !lasts(current, SUCCESSOR_BEFORE_DAYS);
  const next = isToPlan ? (planned ?? newAuthority(owner, nowMs)) : undefined;
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
 * Plans a successor when the key of the signer is lost, while its certificates still serve: servers
 * and clients trust the successor first, and it signs when all had time to take it.
 */
export function successorOf(owner: OwnerName, nowMs: number, before: SecretData): Authorities {
  const signer = newAuthority(owner, nowMs);
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

/** True when the present authority can sign. */
export const hasKey = (data: SecretData): boolean => identityIn(data, '') !== undefined;

/** True when the present authority or the next one can sign. */
export const hasSigner = (data: SecretData): boolean =>
  hasKey(data) || identityIn(data, 'next-') !== undefined;

function identityIn(data: SecretData, prefix: string): Identity | undefined {
  const [certPem] = certificatesIn(data[`${prefix}ca.crt`]);
  const keyPem = data[`${prefix}ca.key`] ?? '';
  return certPem === undefined || keyPem === '' ? undefined : { certPem, keyPem };
}

/**
 * Gives every authority a name of its own: OpenSSL finds an issuer by name, and does not try a
 * second one of the same name.
 */
const newAuthority = (owner: OwnerName, nowMs: number): Identity =>
  makeAuthority(
    `${owner.kind} ${randomBytes(4).toString('hex')} ${nameIn(owner)}`,
    forDays(nowMs, AUTHORITY_DAYS),
  );

const nameIn = ({ namespace, name }: OwnerName): string => `${namespace}/${name}`;

/** True for an authority of this owner, by its name, which nobody else gives. */
export function isOfOwner(owner: OwnerName, certificate: string): boolean {
  if (Number.isNaN(endsAtMs(certificate))) return false;
  const name = String(new X509Certificate(certificate).toLegacyObject().subject.CN);
  const [kind, random] = name.split(' ');
  const whole = `${kind} ${random} ${nameIn(owner)}`;
  return kind === owner.kind && name === whole.slice(0, NAME_MAX);
}
