// Options of the `nats` client from a url and what goes with it, looked at before anybody is shown
// any of it. No sentence here quotes what is secret.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { checkServerIdentity, type ConnectionOptions as TlsConnectionOptions } from 'node:tls';
import type { Authenticator, ConnectionOptions, TlsOptions } from 'nats';
import type { NatsAccess } from './access.ts';
import type * as client from './client.ts';
import { inboxOf } from './rights.ts';

/** Loaded when it is needed first. */
export type Client = typeof client;

interface Login {
  readonly options: ConnectionOptions;
  /** Where the rights of this user let answers arrive. */
  readonly inboxPrefix: string;
}

/** Throws an Error whose message says which key cannot be used, and why. */
export function loginOf(client: Client, text: string, access: NatsAccess): Login {
  const url = new URL(text);
  const { user, options } = identityIn(client, url, access);
  return {
    options: { servers: url.host, ...options, ...tlsOf(url, access) },
    inboxPrefix: user === undefined ? '_INBOX' : inboxOf(user),
  };
}

interface Identity {
  readonly user?: string;
  readonly options: ConnectionOptions;
}

function identityIn(client: Client, url: URL, access: NatsAccess): Identity {
  const { 'nats.creds': credentials, nkey } = access;
  const ways = [
    ...(url.username === '' && url.password === '' ? [] : ['a login in its url']),
    ...(credentials === undefined ? [] : ['nats.creds']),
    ...(nkey === undefined ? [] : ['nkey']),
  ];
  if (ways.length > 1) throw new Error(`has ${ways.join(' and ')}, and one user has one of them`);
  if (credentials !== undefined) return withCredentials(client, credentials);
  if (nkey !== undefined) return withSeed(client, nkey);
  return withLogin(url);
}

/**
 * The client takes credentials only as options of their own: `nats://user:password@host`, or
 * `nats://token@host`.
 */
function withLogin({ username, password }: URL): Identity {
  const user = decodeURIComponent(username);
  const pass = decodeURIComponent(password);
  if (user === '') return { options: {} };
  return { user, options: pass === '' ? { token: user } : { user, pass } };
}

function withSeed(client: Client, nkey: string): Identity {
  const authenticator = client.nkeyAuthenticator(Buffer.from(nkey.trim()));
  const user = publicKey(authenticator);
  if (user === undefined) throw new Error('has no seed of a user in nkey: one line, from SU on');
  return { user, options: { authenticator } };
}

function withCredentials(client: Client, credentials: string): Identity {
  const authenticator = client.credsAuthenticator(Buffer.from(credentials));
  const claims = claimsIn(credentials);
  const key = publicKey(authenticator);
  if (claims === undefined || key === undefined) {
    throw new Error('has no nats.creds that holds the JWT of a user and the seed of its NKey');
  }
  if (claims.sub !== key) throw new Error('has a seed in nats.creds that is not of its JWT');
  // A name stays when keys are made anew.
  const user = claims.name === undefined || claims.name === '' ? key : claims.name;
  return { user, options: { authenticator } };
}

/** Undefined when there is no seed, or that of an account or an operator. */
function publicKey(authenticator: Authenticator): string | undefined {
  try {
    const shown = authenticator('any');
    const key = typeof shown === 'object' && 'nkey' in shown ? shown.nkey : '';
    return key.startsWith('U') ? key : undefined;
  } catch {
    return undefined;
  }
}

interface Claims {
  readonly sub: string;
  readonly name: string | undefined;
}

function claimsIn(credentials: string): Claims | undefined {
  const [, body = ''] = /^[\w-]+\.([\w-]+)\.[\w-]+\s*$/m.exec(credentials) ?? [];
  try {
    const { sub, name } = JSON.parse(Buffer.from(body, 'base64url').toString());
    return typeof sub === 'string'
      ? { sub, name: typeof name === 'string' ? name : undefined }
      : undefined;
  } catch {
    return undefined;
  }
}

/** An authority or a certificate means TLS, whatever the url says. */
function tlsOf({ protocol, hostname }: URL, access: NatsAccess): ConnectionOptions {
  const { 'ca.crt': ca, 'tls.crt': cert, 'tls.key': key } = access;
  if (protocol !== 'tls:' && ca === undefined && cert === undefined && key === undefined) return {};
  if (ca !== undefined && !isCertificate(ca)) throw new Error('has no certificate in ca.crt');
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error(`has no ${cert === undefined ? 'tls.crt' : 'tls.key'} beside its other half`);
  }
  if (cert !== undefined && key !== undefined && !areTogether(cert, key)) {
    throw new Error('has no certificate and key in tls.crt and tls.key that belong together');
  }
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  const tls: TlsConnectionOptions = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert, key }),
    // The client forgets the host when it is an address, and would take any name's certificate.
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client hands all of it on
  return { tls: tls as TlsOptions };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function areTogether(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
