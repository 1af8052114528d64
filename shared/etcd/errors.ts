// Refusals of etcd, and failures to reach it, with stable codes.
import { Failure } from '../errors.ts';

/** gRPC's numbers, as etcd's JSON gateway hands them on. */
const OUT_OF_RANGE = 11;

export interface Refusal {
  readonly endpoint: string;
  readonly path: string;
  readonly statusCode: number;
  readonly text: string;
}

export function failureFromAnswer({ endpoint, path, statusCode, text }: Refusal): Failure {
  const { code, message } = readError(text);
  const where = `${path} at ${endpoint}: ${statusCode}`;
  const said = message === '' ? '' : ` It said: ${message}.`;
  const detail = { object: endpoint };
  if (code === OUT_OF_RANGE) {
    const why = 'etcd compacted the revision that was being read';
    return new Failure('ETCD_COMPACTED', `${why} (${where}). Begin again.`, detail);
  }
  if (statusCode === 404) {
    const why = `etcd has no JSON gateway here (${where})`;
    const next = 'Name a client URL that serves HTTP; --enable-grpc-gateway must not be false.';
    return new Failure('ETCD_REFUSED', `${why}. ${next}`, detail);
  }
  const next = 'See that the client certificate is one that etcd trusts, and may read all keys.';
  return new Failure('ETCD_REFUSED', `etcd refused (${where}).${said} ${next}`, detail);
}

export function unavailable(endpoints: readonly string[], cause: unknown): Failure {
  const object = endpoints.join(', ');
  const message =
    `etcd at ${object} cannot be reached (${reasonOf(cause)}). ` +
    'See that it runs, that the address is that of its clients, and that it shares CA and ' +
    'certificate with us.';
  return new Failure('ETCD_UNAVAILABLE', message, { object, cause });
}

export function brokenAnswer(endpoint: string, why: string, cause?: unknown): Failure {
  const message = `What ${endpoint} answers is not etcd's (${why}). See what listens there.`;
  return new Failure('ETCD_UNAVAILABLE', message, { object: endpoint, cause });
}

/** undici's errors may hold nothing but a code. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message;
  return 'code' in error ? String(error.code) : error.name;
}

function readError(text: string): { readonly code: number; readonly message: string } {
  const shown = text.trim().slice(0, 300);
  try {
    const { code, message }: { code?: unknown; message?: unknown } = JSON.parse(text);
    return { code: Number(code), message: typeof message === 'string' ? message : shown };
  } catch {
    // A proxy may answer anything.
    return { code: Number.NaN, message: shown };
  }
}
