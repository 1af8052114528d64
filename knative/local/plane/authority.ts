// A certificate authority that lives as long as what it signs for: just enough of X.509 for the TLS
// libraries of Go and Node to take it.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface Identity {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface Subject {
  readonly commonName: string;
  /** To Kubernetes: the groups of the user that the common name names. */
  readonly organizations?: readonly string[];
  /** Where it serves: DNS names and IPv4 addresses. */
  readonly hosts?: readonly string[];
}

/** Nobody renews: whoever signs lives shorter than this. */
const VALID_DAYS = 365;

export class Authority {
  readonly certPem: string;
  readonly #key: KeyObject;
  readonly #name: Subject;
  #serial = 1;

  constructor(name: string) {
    const { publicKey, privateKey } = newKeys();
    this.#key = privateKey;
    this.#name = { commonName: name };
    this.certPem = this.#certificate(this.#name, publicKey, [IS_CA]);
  }

  get keyPem(): string {
    return pemOf(this.#key);
  }

  /** To serve with and to ask with. */
  issue(subject: Subject): Identity {
    const { publicKey, privateKey } = newKeys();
    const { hosts = [] } = subject;
    const extensions = hosts.length === 0 ? [USAGES] : [USAGES, alternativeNames(hosts)];
    const certPem = this.#certificate(subject, publicKey, extensions);
    return { certPem, keyPem: pemOf(privateKey) };
  }

  #certificate(subject: Subject, publicKey: KeyObject, extensions: readonly Buffer[]): string {
    this.#serial += 1;
    const body = sequence(
      tagged(0xa0, tagged(0x02, Buffer.of(2))),
      tagged(0x02, serialBytes(this.#serial)),
      ECDSA_WITH_SHA256,
      nameOf(this.#name),
      sequence(time(-1), time(VALID_DAYS)),
      nameOf(subject),
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

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Two bytes of which the first is never 0 nor negative: thirty thousand are enough here. */
const serialBytes = (serial: number): Buffer => Buffer.of(1 + (serial >> 8), serial & 0xff);

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

const attribute = (id: string, value: string): Buffer =>
  tagged(0x31, sequence(oid(id), tagged(0x0c, Buffer.from(value))));

const nameOf = ({ commonName, organizations = [] }: Subject): Buffer =>
  sequence(
    ...organizations.map((one) => attribute('55040a', one)),
    attribute('550403', commonName),
  );

function time(fromNowDays: number): Buffer {
  const at = new Date(Date.now() + fromNowDays * 86_400_000).toISOString();
  return tagged(0x17, Buffer.from(`${at.slice(2, 19).replaceAll(/\D/g, '')}Z`));
}

const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), tagged(0x04, value));

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const IS_CA = extension('551d13', sequence(tagged(0x01, Buffer.of(0xff))));
/** serverAuth and clientAuth: etcd's gateway asks its own server with the server's certificate. */
const USAGES = extension('551d25', sequence(oid('2b06010505070301'), oid('2b06010505070302')));

function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIPv4(host)
      ? tagged(0x87, Buffer.from(host.split('.').map(Number)))
      : tagged(0x82, Buffer.from(host)),
  );
  return extension('551d11', sequence(...names));
}
