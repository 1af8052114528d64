// Keys that a pod has by who it is: a token that the kubelet mounts for it is given for keys that
// end within hours. A security token service does so for a role (web identity), or a service on
// the node that hands keys out.
import { readFile } from 'node:fs/promises';
import { Failure } from '../errors.ts';
import type { Credentials, Identity, KeyService, WebIdentity } from './credentials.ts';
import {
  type About,
  failureFromOdd,
  failureFromRefused,
  failureFromTransport,
  refusedIn,
} from './errors.ts';
import { openConnection } from './pool.ts';
import { textWithin } from './text-within.ts';
import { textIn } from './xml.ts';

export interface Lent {
  readonly credentials: Credentials;
  readonly endsAtMs: number;
}

const SILENCE_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const STS_VERSION = '2011-06-15';

export function borrowKeys(identity: Identity, signal?: AbortSignal): Promise<Lent> {
  return 'webIdentity' in identity
    ? assumeRole(identity.webIdentity, signal)
    : askService(identity.keyService, signal);
}

async function assumeRole(identity: WebIdentity, signal: AbortSignal | undefined): Promise<Lent> {
  const { roleArn, tokenPath, sessionName, endpoint, caPath } = identity;
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: STS_VERSION,
    RoleArn: roleArn,
    RoleSessionName: sessionName,
    WebIdentityToken: await readToken(tokenPath),
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const about = { what: `Assuming the role ${roleArn}`, object: roleArn, endpoint };
  const call: Call = { method: 'POST', headers, body: body.toString(), caPath };
  const text = await ask(about, addressOf(endpoint), call, signal);
  return lent(about, {
    accessKeyId: textIn(text, 'AccessKeyId'),
    secretAccessKey: textIn(text, 'SecretAccessKey'),
    sessionToken: textIn(text, 'SessionToken'),
    endsAt: textIn(text, 'Expiration'),
  });
}

async function askService(
  { url, tokenPath }: KeyService,
  signal: AbortSignal | undefined,
): Promise<Lent> {
  const headers: Record<string, string> =
    tokenPath === undefined ? {} : { authorization: await readToken(tokenPath) };
  const about = { what: 'Asking for the keys of this pod', object: url, endpoint: url };
  const call: Call = { method: 'GET', headers, body: null, caPath: undefined };
  const fields = fieldsIn(await ask(about, nearby(addressOf(url)), call, signal));
  return lent(about, {
    accessKeyId: fields['AccessKeyId'],
    secretAccessKey: fields['SecretAccessKey'],
    sessionToken: fields['Token'],
    endsAt: fields['Expiration'],
  });
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function lent(about: About, said: Readonly<Record<keyof Credentials | 'endsAt', unknown>>): Lent {
  const { accessKeyId, secretAccessKey, sessionToken, endsAt } = said;
  const endsAtMs = typeof endsAt === 'string' ? Date.parse(endsAt) : Number.NaN;
  const isWhole = isText(accessKeyId) && isText(secretAccessKey) && isText(sessionToken);
  if (!isWhole || Number.isNaN(endsAtMs)) throw failureFromOdd(about, 'no keys with an end');
  return { credentials: { accessKeyId, secretAccessKey, sessionToken }, endsAtMs };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The kubelet writes it anew before it ends. */
async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message =
      `The token of this pod's identity cannot be read (${why}): give its ServiceAccount a role, ` +
      'or name keys.';
    throw new Failure('S3_ACCESS_UNUSABLE', message, { object: path, cause });
  }
}

function addressOf(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url;
  const message = `${text} is no address that gives keys: it must be as https://sts.example.`;
  throw new Failure('S3_ACCESS_UNUSABLE', message, { object: text });
}

/** Itself, or the node: there a service hands keys out without TLS. */
const NEARBY = /^(localhost|127\.\d+\.\d+\.\d+|169\.254\.\d+\.\d+|\[::1\]|\[fd00:ec2::23\])$/;

function nearby(url: URL): URL {
  if (url.protocol === 'https:' || NEARBY.test(url.hostname)) return url;
  const message =
    `${url.href} would get the token of this pod in the clear, over the network: name an address ` +
    'with https, or one of the node.';
  throw new Failure('S3_ACCESS_UNUSABLE', message, { object: url.href });
}

interface Call {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly caPath: string | undefined;
}

async function ask(
  about: About,
  url: URL,
  { method, headers, body, caPath }: Call,
  signal: AbortSignal | undefined,
): Promise<string> {
  const pool = await openConnection(url.origin, caPath);
  try {
    const answer = await pool.request({
      method,
      path: `${url.pathname}${url.search}`,
      headers,
      body,
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await textWithin(answer.body, ANSWER_BYTES_MAX, about);
    if (answer.statusCode < 300) return text;
    throw failureFromRefused(about, refusedIn(answer.statusCode, answer.headers, text));
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof Failure ? error : failureFromTransport(about, error);
  } finally {
    await pool.destroy();
  }
}
