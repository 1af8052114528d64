// Asks a running cluster something, over the socket in its directory.
import { request } from 'node:http';
import type { PartState } from '../local/process/part.ts';

/** A node with many pods takes seconds to go; an image of hundreds of megabytes to be unpacked. */
const TIMEOUT_MS = 120_000;

export interface PartRow {
  readonly name: string;
  readonly state: PartState;
  readonly sizeBytes: number;
}

/** Both ends are ours: the caller knows what comes back. */
export async function ask<Answer>(
  socketPath: string,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const text = new URLSearchParams(query).toString();
  return new Promise((resolve, reject) => {
    const options = {
      socketPath,
      path: `${path}?${text}`,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    };
    const sent = request(options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.once('error', reject).once('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(body));
        else reject(new Error(body));
      });
    });
    sent.once('error', (cause) => reject(explained(cause))).end();
  });
}

function explained(cause: Error): Error {
  const isAbsent = 'code' in cause && ['ENOENT', 'ECONNREFUSED'].includes(String(cause.code));
  if (isAbsent) return new Error('The cluster is still starting, or just ending.', { cause });
  if (cause.name !== 'TimeoutError') return cause;
  return new Error(`The cluster gave no answer within ${TIMEOUT_MS / 1000} s.`, { cause });
}
