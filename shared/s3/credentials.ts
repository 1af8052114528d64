// Keys for S3: from the environment, by the identity of a pod, or from a file in the form that
// every tool for S3 reads. The file is read anew for each request, because whoever rotates keys
// writes it while we run.
import { readFile } from 'node:fs/promises';
import { Failure } from '../errors.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

export interface WebIdentity {
  readonly roleArn: string;
  readonly tokenPath: string;
  readonly sessionName: string;
  /** A security token service is there. */
  readonly endpoint: string;
  readonly caPath: string | undefined;
}

export interface KeyService {
  readonly url: string;
  /** It is sent none where there is none. */
  readonly tokenPath: string | undefined;
}

export type Identity = { readonly webIdentity: WebIdentity } | { readonly keyService: KeyService };

export type KeptKeys =
  | { readonly given: Credentials }
  | { readonly path: string; readonly profile: string };

export type CredentialSource = KeptKeys | { readonly identity: Identity };

interface Found {
  /** A file that was named: it comes before the environment. */
  readonly path: string | undefined;
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
  readonly sessionToken: string | undefined;
  readonly identity: Identity | undefined;
  readonly usualPath: string;
  readonly profile: string;
}

export function sourceIn(found: Found): CredentialSource {
  const { path, accessKeyId, secretAccessKey, sessionToken, usualPath, profile } = found;
  if (path !== undefined) return { path, profile };
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { given: { accessKeyId, secretAccessKey, sessionToken } };
  }
  return found.identity === undefined ? { path: usualPath, profile } : { identity: found.identity };
}

const NEXT =
  'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a file with --s3-credentials.';

export async function readCredentials(source: KeptKeys): Promise<Credentials> {
  if ('given' in source) return source.given;
  const { path, profile } = source;
  let text;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw unusable(path, `The credentials for S3 cannot be read (${why}). ${NEXT}`, cause);
  }
  const values = profileIn(text, profile);
  const accessKeyId = values.get('aws_access_key_id');
  const secretAccessKey = values.get('aws_secret_access_key');
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    const lacks = 'lacks aws_access_key_id or aws_secret_access_key';
    throw unusable(path, `Profile ${profile} in ${path} ${lacks}. ${NEXT}`);
  }
  return { accessKeyId, secretAccessKey, sessionToken: values.get('aws_session_token') };
}

/** `name = value` under `[profile]`; what is empty counts as absent. */
function profileIn(text: string, profile: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let section = '';
  for (const line of text.split('\n')) {
    const [, header] = /^\s*\[\s*(?:profile\s+)?(.*?)\s*\]/.exec(line) ?? [];
    if (header !== undefined) section = header;
    const [, name, value] = /^\s*([a-z_]+)\s*=\s*(\S+)\s*$/i.exec(line) ?? [];
    if (section !== profile || name === undefined || value === undefined) continue;
    values.set(name.toLowerCase(), value);
  }
  return values;
}

const unusable = (object: string, message: string, cause?: unknown): Failure =>
  new Failure('S3_ACCESS_UNUSABLE', message, { object, cause });
