// Reads how to reach the API server and as whom, from a kubeconfig or from the service account of
// the pod. The service account costs no module beyond this one.
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { Failure } from '../errors.ts';
import type { Access, ReadAccess } from './access-cache.ts';
import { type AccessSource, type ServiceAccountFiles, findAccessSource } from './config.ts';
import { readCredential } from './credential-file.ts';

/** `source` is looked for in the environment when it is not given. */
export function accessReader(source: AccessSource | undefined, clock: Clock): ReadAccess {
  let reader: ReadAccess | undefined;
  return async (isRefused, signal) => {
    try {
      reader ??= await readerFor(source ?? findAccessSource(), clock);
      return await reader(isRefused, signal);
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw new Failure('KUBE_ACCESS_UNREADABLE', unreadable(cause), { cause });
    }
  };
}

/** With the same credentials to another address, which may not be in its certificate. */
export function readerAt(
  read: ReadAccess,
  { url, servername }: { readonly url: string; readonly servername: string },
): ReadAccess {
  return async (isRefused, signal) => {
    const access = await read(isRefused, signal);
    return { ...access, server: url, tls: { ...access.tls, servername } };
  };
}

async function readerFor(source: AccessSource, clock: Clock): Promise<ReadAccess> {
  if ('serviceAccount' in source) {
    return (_, signal) => readServiceAccount(source.serviceAccount, signal);
  }
  const { kubeconfigReader } = await import('./kubeconfig.ts');
  return kubeconfigReader(source.kubeconfigPaths, clock);
}

async function readServiceAccount(
  { server, dir }: ServiceAccountFiles,
  signal: AbortSignal,
): Promise<Access> {
  const [token, ca] = await Promise.all([
    readCredential(join(dir, 'token'), signal),
    readCredential(join(dir, 'ca.crt'), signal),
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
