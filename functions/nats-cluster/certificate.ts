// A certificate authority for one cluster, and the certificates that it signs: just what X.509
// needs for servers that prove who they are to clients and to each other. Keys are P-256.
import {
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';

export interface Identity {
  /** As PEM. */
  readonly certificate: string;
  readonly key: string;
}

export interface Validity {
  readonly fromMs: number;
  readonly toMs: number;
}

export function makeAuthority(name: string, validity: Validity): Identity {
  const keys = newKeys();
  const body = { subject: name, issuer: name, publicKey: keys.publicKey, validity };
  const certificate = signed({ ...body, extensions: [IS_AUTHORITY] }, keys.privateKey);
  return { certificate, key: pemOf(keys.privateKey) };
}

/** For all these names, to serve with and to ask with. */
export function issue(authority: Identity, names: readonly string[], validity: Validity): Identity {
  const keys = newKeys();
  const issuer = /CN=(.*)/.exec(new X509Certificate(authority.certificate).subject)?.[1] ?? '';
  const body = { subject: names[0] ?? '', issuer, publicKey: keys.publicKey, validity };
  const extensions = [USAGES, alternativeNames(names)];
  const certificate = signed({ ...body, extensions }, createPrivateKey(authority.key));
  return { certificate, key: pemOf(keys.privateKey) };
}

interface Body {
  readonly subject: string;
  readonly issuer: string;
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
    nameOf(issuer),
    sequence(time(validity.fromMs), time(validity.toMs)),
    nameOf(subject),
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

/** What a common name may hold; verifiers look at the alternative names alone. */
const COMMON_NAME_MAX = 64;

const nameOf = (name: string): Buffer => {
  const text = Buffer.from(name.slice(0, COMMON_NAME_MAX));
  return sequence(tagged(0x31, sequence(oid('550403'), tagged(0x0c, text))));
};

/** From 2050 on the short form would mean 1950. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().slice(0, 19).replaceAll(/\D/g, '');
  const isShort = Number(digits.slice(0, 4)) < 2050;
  return tagged(isShort ? 0x17 : 0x18, Buffer.from(`${isShort ? digits.slice(2) : digits}Z`));
}

const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), tagged(0x04, value));

const alternativeNames = (names: readonly string[]): Buffer =>
  extension('551d11', sequence(...names.map((name) => tagged(0x82, Buffer.from(name)))));

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const IS_AUTHORITY = extension('551d13', sequence(tagged(0x01, Buffer.of(0xff))));
/** serverAuth and clientAuth: a server is a client to the others. */
const USAGES = extension('551d25', sequence(oid('2b06010505070301'), oid('2b06010505070302')));
