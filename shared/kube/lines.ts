// Splits a stream of bytes into its lines, one at a time: a line is complete or it is not given
// out, and nothing is read ahead of the reader.

/** etcd takes objects up to 1.5 MB; their JSON with escapes, in an event, stays far below this. */
const LINE_MAX_BYTES = 16 * 1024 * 1024;

const NEWLINE = 0x0a;

/** What follows the last newline is dropped: it is what a cut left of a line. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  sizeMax = LINE_MAX_BYTES,
): AsyncGenerator<string, void, undefined> {
  // A chunk may end inside a character, so bytes are gathered and only whole lines decoded.
  let begun: Uint8Array[] = [];
  let begunBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([...begun, chunk.subarray(start, end)]).toString('utf8');
      begun = [];
      begunBytes = 0;
      start = end + 1;
      if (line !== '') yield line;
    }
    if (start === chunk.length) continue;
    begun.push(chunk.subarray(start));
    begunBytes += chunk.length - start;
    if (begunBytes > sizeMax) throw new Error(`a line has more than ${sizeMax} bytes`);
  }
}
