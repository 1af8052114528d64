// How commands are told where an etcd is, and by which certificates it is spoken with.
import { UsageError } from '../arguments.ts';
import type { TlsFiles } from './tls.ts';

export const ETCD_ARGUMENTS = {
  etcd: { type: 'string', multiple: true },
  cacert: { type: 'string' },
  cert: { type: 'string' },
  key: { type: 'string' },
} as const;

interface Values {
  readonly cacert?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export function tlsOf({ cacert, cert, key }: Values): TlsFiles {
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('--cert and --key go together');
  }
  return { caPath: cacert, certPath: cert, keyPath: key };
}

export function endpointOf(text: string): string {
  const url = URL.parse(text);
  if (url !== null && ['http:', 'https:'].includes(url.protocol))
    return url.href.replace(/\/$/, '');
  throw new UsageError(`--etcd must be an address such as https://10.0.0.1:2379, not ${text}`);
}
