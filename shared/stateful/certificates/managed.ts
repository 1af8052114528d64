// Certificates of servers: the user's are checked before any server gets them; managed ones are
// made and renewed, in one Secret with their authority.
import type { Reason } from '../../kube/conditions.ts';
import { timestamp } from '../../kube/timestamp.ts';
import type { Owner } from '../parts.ts';
import { hasKey } from './authorities.ts';
import { dataAt, type Issued, nextRenewalMs, ownFields } from './renewal.ts';
import {
  type CertificateFiles,
  newSecret,
  readData,
  readOwn,
  renewedSecret,
  type SecretData,
  type SecretsDeps,
  type SecretToMake,
} from './secret-data.ts';
import { unfit } from './unfit.ts';

/** Nearly every cluster's; elsewhere clients use the shorter names. */
export const CLUSTER_DOMAIN = 'cluster.local';

export interface CertificatesRead {
  /** Undefined while a certificate is missing. */
  readonly files?: CertificateFiles;
  readonly toMake?: SecretToMake;
  readonly lacking?: Reason;
  /** A task of the clients that has a date, for people. */
  readonly notice?: string;
}

/** The authority of a Secret that is gone, as far as others still tell it. */
export interface RecoveredAuthority {
  readonly data: SecretData;
  /** Set when clients have to fetch the authority again. */
  readonly lost?: Reason;
}

export interface Managed<Listener extends string> extends Issued<Listener> {
  readonly owner: Owner;
  /** The end of the name of their Secret. */
  readonly suffix: string;
  /** Asked when the Secret is gone and this instance does not remember it. */
  readonly recover: () => RecoveredAuthority;
}

/** Certificates for all listeners are made together, wanted or not: one Secret, one age. */
export async function readManaged<Listener extends string>(
  deps: SecretsDeps,
  managed: Managed<Listener>,
  listener: Listener,
): Promise<CertificatesRead> {
  const { owner, suffix } = managed;
  const { own, lacking } = await readOwn(deps, owner, suffix);
  if (lacking !== undefined) return { lacking };
  const { nowMs, kept } = deps;
  if (own === undefined) {
    const { data: left, lost } = leftOf(deps, managed);
    return { toMake: newSecret(owner, suffix, dataAt(managed, nowMs, left), lost) };
  }
  const { data: before } = own;
  const data = dataAt(managed, nowMs, before);
  if (data !== before) return { toMake: renewedSecret(owner, suffix, own, data) };
  // The keys in it have no copy.
  kept?.set(suffix, ownFields(managed, data));
  const files = {
    certificate: data[`${listener}.crt`] ?? '',
    key: data[`${listener}.key`] ?? '',
    ca: data['ca.crt'] ?? '',
  };
  return hasKey(data) ? { files } : { files, notice: noticeOf(managed, data) };
}

function leftOf({ kept }: SecretsDeps, { suffix, recover }: Managed<string>): RecoveredAuthority {
  const remembered = kept?.get(suffix);
  return remembered === undefined ? recover() : { data: remembered };
}

function noticeOf(managed: Managed<string>, data: SecretData): string {
  const day = timestamp(nextRenewalMs(managed, data)).slice(0, 10);
  return (
    `From ${day} on another authority signs for its servers: whoever has a copy of ca.crt of ` +
    `Secret ${managed.owner.name}${managed.suffix} fetches it anew before.`
  );
}

/** A certificate that a field of the spec names. */
export interface Given {
  readonly namespace: string;
  readonly secretName: string;
  /** The field, as `spec.tls.clients`. */
  readonly field: string;
  /** A name that the certificate has to be for. */
  readonly host: string;
}

/** Reads the user's certificate, and refuses one for another name: clients would be cut off. */
export async function readGiven(
  deps: SecretsDeps,
  { namespace, secretName, field, host }: Given,
): Promise<CertificatesRead> {
  const data = await readData(deps, { namespace }, secretName);
  const where = `Secret ${namespace}/${secretName}, which ${field} names,`;
  const missing = ['tls.crt', 'tls.key', 'ca.crt'].filter((key) => (data?.[key] ?? '') === '');
  const [certificate = '', key = '', ca = ''] = ['tls.crt', 'tls.key', 'ca.crt'].map(
    (one) => data?.[one],
  );
  const why =
    missing.length > 0
      ? `has no ${missing.join(' and no ')}`
      : unfit({ certificate, key, ca }, host, deps.nowMs);
  if (why === undefined) return { files: { certificate, key, ca } };
  return { lacking: { reason: 'CertificateUnfit', message: `${where} ${why}.` } };
}
