// The pieces of a snapshot as a member streams them: a line of JSON for each.
import { brokenAnswer, failureFromAnswer } from './errors.ts';

export interface Blob {
  readonly blob: Buffer;
  /** As etcd reckons, which leaves out the hash at the end. */
  readonly leftBytes: number;
}

/** etcd sends 32 KiB in a message; a line that is longer is not one of its. */
const LINE_BYTES_MAX = 8 * 1024 * 1024;

interface Message {
  readonly result?: { readonly blob?: string; readonly remaining_bytes?: string };
  readonly error?: { readonly message?: string };
}

export async function* blobsOf(
  endpoint: string,
  body: AsyncIterable<Buffer>,
): AsyncGenerator<Blob> {
  for await (const line of linesOf(endpoint, body)) {
    const { result, error }: Message = JSON.parse(line);
    if (error !== undefined) {
      const text = JSON.stringify(error);
      const path = '/v3/maintenance/snapshot';
      throw failureFromAnswer({ endpoint, path, statusCode: 200, text });
    }
    const blob = Buffer.from(result?.blob ?? '', 'base64');
    yield { blob, leftBytes: Number(result?.remaining_bytes ?? 0) };
  }
}

async function* linesOf(endpoint: string, body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of body) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString('utf8');
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    if (restBytes > LINE_BYTES_MAX) throw brokenAnswer(endpoint, 'a line without end');
  }
  const last = Buffer.concat(rest).toString('utf8').trim();
  if (last !== '') yield last;
}
