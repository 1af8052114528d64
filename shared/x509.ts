// A certificate authority, and the certificates that it signs: just what X.509 needs for the TLS
// libraries of Go and Node, for servers and clients that prove who they are. Keys are P-256.
import {
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface Identity {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface Subject {
  /** Absent for a certificate that is nobody's login: some servers take this for a user. */
  readonly commonName?: string;
  /** To Kubernetes: the groups of the user that the common name names. */
  readonly organizations?: readonly string[];
  /** Where it serves: DNS names and IPv4 addresses. */
  readonly hosts?: readonly string[];
}

export interface Validity {
  readonly fromMs: number;
  readonly toMs: number;
}

export function makeAuthority(commonName: string, validity: Validity): Identity {
  const { publicKey, privateKey } = newKeys();
  const name = nameOf({ commonName });
  const body = { subject: name, issuer: name, publicKey, validity, extensions: [IS_AUTHORITY] };
  return { certPem: signed(body, privateKey), keyPem: pemOf(privateKey) };
}

/** To serve with and to ask with. */
export function issue(authority: Identity, subject: Subject, validity: Validity): Identity {
  const { publicKey, privateKey } = newKeys();
  const { hosts = [] } = subject;
  const { CN: commonName } = new X509Certificate(authority.certPem).toLegacyObject().subject;
  const body = {
    subject: nameOf(subject),
    issuer: nameOf({ commonName: String(commonName) }),
    publicKey,
    validity,
    extensions: hosts.length === 0 ? [USAGES] : [USAGES, alternativeNames(hosts)],
  };
  const certPem = signed(body, createPrivateKey(authority.keyPem));
  return { certPem, keyPem: pemOf(privateKey) };
}

/** Undefined where it has none, and for text that is no certificate. */
export function commonNameOf(certPem: string | undefined): string | undefined {
  if (certPem === undefined) return undefined;
  try {
    const { CN: name } = new X509Certificate(certPem).toLegacyObject().subject;
    return name === undefined ? undefined : String(name);
  } catch {
    return undefined;
  }
}

interface Body {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly publicKey: KeyObject;
  readonly validity: Validity;
  readonly extensions: readonly Buffer[];
}

function signed(
  { subject, issuer, publicKey, validity, extensions }: Body,
  key: KeyObject,
): string {
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.of(2))),
    tagged(0x02, serial()),
    ECDSA_WITH_SHA256,
    issuer,
    sequence(time(validity.fromMs), time(validity.toMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions)),
  );
  const signature = Buffer.concat([Buffer.of(0), sign('sha256', body, key)]);
  const whole = sequence(body, ECDSA_WITH_SHA256, tagged(0x03, signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Positive, and never the same twice. */
const serial = (): Buffer => Buffer.concat([Buffer.of(0x01), randomBytes(15)]);

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  // As short as it can be, or Go refuses it.
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  const head = length < 0x80 ? [length] : long;
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

const sequence = (...items: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(items));

/** Hex of the encoded object identifier. */
const oid = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'));

/** Length of a name's attributes, which are cut; verifiers read the alternative names alone. */
export const NAME_MAX = 64;

const attribute = (id: string, value: string): Buffer =>
  tagged(0x31, sequence(oid(id), tagged(0x0c, Buffer.from(value.slice(0, NAME_MAX)))));

const nameOf = ({ commonName, organizations = [] }: Subject): Buffer =>
  sequence(
    ...organizations.map((one) => attribute('55040a', one)),
    ...(commonName === undefined ? [] : [attribute('550403', commonName)]),
  );

/** From 2050 on the short form would mean 1950. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().slice(0, 19).replaceAll(/\D/g, '');
  const isShort = Number(digits.slice(0, 4)) < 2050;
  return tagged(isShort ? 0x17 : 0x18, Buffer.from(`${isShort ? digits.slice(2) : digits}Z`));
}

const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), tagged(0x04, value));

function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIPv4(host)
      ? tagged(0x87, Buffer.from(host.split('.').map(Number)))
      : tagged(0x82, Buffer.from(host)),
  );
  return extension('551d11', sequence(...names));
}

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const IS_AUTHORITY = extension('551d13', sequence(tagged(0x01, Buffer.of(0xff))));
/** serverAuth and clientAuth: a NATS server or etcd is also a client, with the same certificate. */
const USAGES = extension('551d25', sequence(oid('2b06010505070301'), oid('2b06010505070302')));
