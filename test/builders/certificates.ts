// A certificate authority of a test, and certificates for loopback that it signs: just enough of
// X.509 for two TLS libraries to take it.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

interface Identity {
  readonly certPem: string;
  readonly keyPem: string;
}

export class TestCa {
  readonly certPem: string;
  readonly #key: KeyObject;
  readonly #name: string;
  #serial = 1;

  constructor(name: string) {
    const { publicKey, privateKey } = newKeys();
    this.#key = privateKey;
    this.#name = name;
    this.certPem = this.#certificate(name, publicKey, [IS_CA]);
  }

  /** For 127.0.0.1, to serve with and to ask with. */
  issue(name: string): Identity {
    const { publicKey, privateKey } = newKeys();
    const certPem = this.#certificate(name, publicKey, [USAGES, LOOPBACK]);
    return { certPem, keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  }

  #certificate(name: string, publicKey: KeyObject, extensions: readonly Buffer[]): string {
    this.#serial += 1;
    const body = sequence(
      tagged(0xa0, tagged(0x02, Buffer.of(2))),
      tagged(0x02, Buffer.of(this.#serial)),
      ECDSA_WITH_SHA256,
      nameOf(this.#name),
      sequence(time(-1), time(30)),
      nameOf(name),
      publicKey.export({ type: 'spki', format: 'der' }),
      tagged(0xa3, sequence(...extensions)),
    );
    const signature = Buffer.concat([Buffer.of(0), sign('sha256', body, this.#key)]);
    const whole = sequence(body, ECDSA_WITH_SHA256, tagged(0x03, signature));
    const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
    return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  }
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

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

const nameOf = (name: string): Buffer =>
  sequence(tagged(0x31, sequence(oid('550403'), tagged(0x0c, Buffer.from(name)))));

function time(fromNowDays: number): Buffer {
  const at = new Date(Date.now() + fromNowDays * 86_400_000).toISOString();
  return tagged(0x17, Buffer.from(`${at.slice(2, 19).replaceAll(/\D/g, '')}Z`));
}

const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), tagged(0x04, value));

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const IS_CA = extension('551d13', sequence(tagged(0x01, Buffer.of(0xff))));
/** serverAuth and clientAuth: etcd's gateway asks its own server with the server's certificate. */
const USAGES = extension('551d25', sequence(oid('2b06010505070301'), oid('2b06010505070302')));
const LOOPBACK = extension('551d11', sequence(tagged(0x87, Buffer.of(127, 0, 0, 1))));
