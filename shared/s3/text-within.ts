// The text of an answer, as long as it keeps its bound: what listens there may send without end.
import { type About, failureFromOdd } from './errors.ts';

export async function textWithin(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
  about: About,
): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.length;
    if (sizeBytes > bytesMax) throw failureFromOdd(about, 'an answer without end');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
