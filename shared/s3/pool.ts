// Connections to an object storage, and the URLs of a bucket and its objects in both styles.
import { readFile } from 'node:fs/promises';
import type { Dispatcher } from 'undici';
import { Failure } from '../errors.ts';
import type { S3Settings } from './settings.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** Parts that are sent at once, and a request beside them. */
const CONNECTIONS_MAX = 8;
const HEADERS_BYTES_MAX = 16 * 1024;

/** Without a key it is that of the bucket. */
export function urlOf(settings: S3Settings, bucket: string, key = ''): URL {
  const { region, isPathStyle } = settings;
  const url = new URL(settings.endpoint ?? `https://s3.${region}.amazonaws.com`);
  const base = url.pathname.replace(/\/$/, '');
  const path = key.split('/').map(encoded).join('/');
  if (isPathStyle) url.pathname = `${base}/${bucket}${key === '' ? '' : `/${path}`}`;
  else {
    url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = `${base}/${path}`;
  }
  return url;
}

/** Every byte that is signed otherwise by one of the two. */
const encoded = (part: string): string =>
  encodeURIComponent(part).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

export const openPool = (settings: S3Settings, bucket: string): Promise<Dispatcher> =>
  openConnection(urlOf(settings, bucket).origin, settings.caPath, CONNECTIONS_MAX);

export async function openConnection(
  origin: string,
  caPath: string | undefined,
  connections = 1,
): Promise<Dispatcher> {
  const [{ Pool }, ca] = await Promise.all([import('./undici.ts'), readAuthority(caPath)]);
  return new Pool(origin, {
    connections,
    allowH2: false,
    maxHeaderSize: HEADERS_BYTES_MAX,
    connectTimeout: CONNECT_TIMEOUT_MS,
    connect: ca === undefined ? {} : { ca },
  });
}

async function readAuthority(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `The authority of the storage cannot be read (${why}): name one that can.`;
    throw new Failure('S3_ACCESS_UNUSABLE', message, { object: path, cause });
  }
}
