// The certificates in one Secret, with the authority that signs them: they are made together, and
// renewed together long before they end. Pure, but for the keys that it makes.
import { commonNameOf, type Identity, issue, type Subject, type Validity } from '../../x509.ts';
import {
  authoritiesAt,
  DAY_MS,
  forDays,
  hasKey,
  hasSigner,
  OF_AUTHORITIES,
  type OwnerName,
  successorOf,
} from './authorities.ts';
import { endsAtMs, type SecretData } from './secret-data.ts';

/** One of the places at which servers show a certificate, such as to clients or to each other. */
export interface ListenerHosts<Listener extends string> {
  readonly listener: Listener;
  /** The names that the certificate is for; the first is its common name. */
  readonly hosts: readonly [string, ...string[]];
  /** Without a common name, where servers would take that for a user. */
  readonly isNameless?: boolean;
}

/** All certificates of one owner. */
export interface Issued<Listener extends string> {
  readonly owner: OwnerName;
  readonly listeners: readonly ListenerHosts<Listener>[];
}

const CERTIFICATE_DAYS = 90;
/** A third of its life: a cluster that nobody reconciled for weeks is still renewed in time. */
const RENEW_BEFORE_DAYS = 30;
/**
 * With the signing key lost, clients get most of the time that is left to fetch the next authority.
 */
const SUCCEED_BEFORE_DAYS = 7;

/** The wanted content of the Secret: the very same object when no certificate has to be renewed. */
export function dataAt<Listener extends string>(
  { owner, listeners }: Issued<Listener>,
  nowMs: number,
  before: SecretData,
): SecretData {
  const validity = forDays(nowMs, CERTIFICATE_DAYS);
  const lasting = listeners.filter((one) => lasts(before, one, nowMs));
  const canSign = hasSigner(before);
  if (canSign && lasting.length === listeners.length) return before;
  if (canSign || lasting.length === 0) {
    const { signer, data } = authoritiesAt(owner, nowMs, CERTIFICATE_DAYS, before);
    return { ...data, ...issuedBy(signer, listeners, validity) };
  }
  const { signer, data } = successorOf(owner, nowMs, before);
  const stays = lasting.map(({ listener }) =>
    filesOf(listener, {
      certPem: before[`${listener}.crt`] ?? '',
      keyPem: before[`${listener}.key`] ?? '',
    }),
  );
  const others = listeners.filter((one) => !lasting.includes(one));
  return Object.assign({}, data, ...stays, issuedBy(signer, others, validity));
}

const issuedBy = (
  by: Identity,
  listeners: readonly ListenerHosts<string>[],
  validity: Validity,
): SecretData =>
  Object.assign(
    {},
    ...listeners.map((one) => filesOf(one.listener, issue(by, subjectOf(one), validity))),
  );

const subjectOf = ({ hosts, isNameless = false }: ListenerHosts<string>): Subject =>
  isNameless ? { organizations: [hosts[0]], hosts } : { commonName: hosts[0], hosts };

function lasts(
  data: SecretData,
  { listener, isNameless = false }: ListenerHosts<string>,
  nowMs: number,
): boolean {
  const { [`${listener}.crt`]: certificate, [`${listener}.key`]: key = '' } = data;
  // Without the authority's key another authority would have to sign: that is worse than a name.
  if (isNameless && hasSigner(data) && commonNameOf(certificate) !== undefined) return false;
  return key !== '' && renewedAtMs(data, certificate) > nowMs;
}

const renewedAtMs = (data: SecretData, certificate: string | undefined): number =>
  endsAtMs(certificate) - (hasKey(data) ? RENEW_BEFORE_DAYS : SUCCEED_BEFORE_DAYS) * DAY_MS;

const filesOf = (listener: string, { certPem, keyPem }: Identity): SecretData => ({
  [`${listener}.crt`]: certPem,
  [`${listener}.key`]: keyPem,
});

/** The time of the next renewal, in milliseconds since the epoch. */
export const nextRenewalMs = ({ listeners }: Issued<string>, data: SecretData): number =>
  Math.min(...listeners.map(({ listener }) => renewedAtMs(data, data[`${listener}.crt`])));

/** Our own fields of the Secret: others may have written more into it. */
export function ownFields({ listeners }: Issued<string>, data: SecretData): SecretData {
  const files = listeners.flatMap(({ listener }) => [`${listener}.crt`, `${listener}.key`]);
  const own = [...OF_AUTHORITIES, ...files].flatMap((name) =>
    data[name] === undefined ? [] : [[name, data[name]]],
  );
  return Object.fromEntries(own);
}
