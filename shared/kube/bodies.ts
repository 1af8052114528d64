// Reads what the API server answers, bounded in bytes while it arrives: objects are written by
// tenants, and what they write must not fill the memory of those who read it.
import { tooLargeError } from './errors.ts';
import type { KubeRequest } from './request.ts';
import { Skim } from './skim.ts';

type Body = AsyncIterable<Uint8Array>;

export async function readAnswer(request: KubeRequest, body: Body): Promise<string> {
  const { skim, about, bytesMax = Infinity } = request;
  if (skim !== undefined) return skimmed(skim, body);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop ends the connection: the API server stops to send.
    if (bytes > bytesMax) throw tooLargeError(about, bytesMax);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

async function skimmed(paths: readonly string[], body: Body): Promise<string> {
  const skim = new Skim(paths);
  for await (const chunk of body) skim.feed(chunk);
  return JSON.stringify(Object.fromEntries(skim.found));
}

/** A `Status` with the causes of a refusal is a few kilobytes. */
const REFUSAL_BYTES_MAX = 1024 * 1024;

/** The beginning of a refusal's body; the rest is dropped. */
export async function beginningOf(body: Body): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > REFUSAL_BYTES_MAX) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, REFUSAL_BYTES_MAX));
}
