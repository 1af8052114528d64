// How to reach the API server and as whom, read anew whenever it is asked for: tokens and
// certificates are rotated under a running process. The service account costs no module beyond
// this one.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import { type AccessSource, type ServiceAccountFiles, findAccessSource } from './config.ts';

export interface Access {
  readonly server: string;
  readonly proxyUrl?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: false;
}

/**
 * `isRefused`: the API server did not take the last credentials, so nothing that was remembered
 * is good.
 */
export type ReadAccess = (isRefused: boolean) => Promise<Access>;

/** As long as client-go trusts a token that it has read; a refused one is read again at once. */
const ACCESS_MAX_AGE_MS = 60_000;

/** Reads what grants us access, at most once at a time and not again before it may have changed. */
export class AccessCache {
  readonly #read: ReadAccess;
  readonly #clock: Clock;
  #reading: Promise<Access> | undefined;
  #latest: Access | undefined;
  #readAtMs = 0;

  constructor(read: ReadAccess, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  current(): Promise<Access> {
    const isOld = this.#clock.nowMs() - this.#readAtMs > ACCESS_MAX_AGE_MS;
    return this.#reading === undefined || isOld ? this.#readAgain(false) : this.#reading;
  }

  /**
   * What to try after `refused` was answered with 401; several calls that were refused together
   * read once.
   */
  after(refused: Access): Promise<Access> {
    return this.#latest === refused ? this.#readAgain(true) : this.current();
  }

  #readAgain(isRefused: boolean): Promise<Access> {
    this.#latest = undefined;
    this.#readAtMs = this.#clock.nowMs();
    const reading = this.#read(isRefused).then((access) => (this.#latest = access));
    this.#reading = reading;
    // A file that could not be read is tried again by the next call.
    reading.catch(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    return reading;
  }
}

/** `source` is looked for in the environment when it is not given. */
export function accessReader(source: AccessSource | undefined): ReadAccess {
  let reader: ReadAccess | undefined;
  return async (isRefused) => {
    try {
      reader ??= await readerFor(source ?? (await findAccessSource()));
      return await reader(isRefused);
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw new Failure('KUBE_ACCESS_UNREADABLE', unreadable(cause), { cause });
    }
  };
}

async function readerFor(source: AccessSource): Promise<ReadAccess> {
  if ('serviceAccount' in source) return () => readServiceAccount(source.serviceAccount);
  const { kubeconfigReader } = await import('./kubeconfig.ts');
  return kubeconfigReader(source.kubeconfigPaths);
}

async function readServiceAccount({ server, dir }: ServiceAccountFiles): Promise<Access> {
  const [token, ca] = await Promise.all([
    readFile(join(dir, 'token'), 'utf8'),
    readFile(join(dir, 'ca.crt'), 'utf8'),
  ]);
  return { server, headers: { authorization: `Bearer ${token.trim()}` }, tls: { ca } };
}

function unreadable(cause: unknown): string {
  const why = cause instanceof Error ? cause.message : String(cause);
  return (
    `The way to the API server cannot be read (${why}): ` +
    'correct the kubeconfig or the mounted service account.'
  );
}
