// Lines of a watch arrive whole, however the network cuts them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../../builders/any-text.ts';
import { splitLines } from '../../../shared/kube/lines.ts';

async function* inPieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const cut of [...cuts, bytes.length].toSorted((a, b) => a - b)) {
    const end = Math.min(cut, bytes.length);
    if (end > start) yield bytes.subarray(start, end);
    start = Math.max(start, end);
  }
}

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = [];
  for await (const text of lines) collected.push(text);
  return collected;
}

const line = anyText(1).map((text) => JSON.stringify({ text }));

test('lines come out as they went in, wherever the stream is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat(400)), async (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      expect(await collect(splitLines(inPieces(bytes, cuts)))).toEqual(lines);
    }),
  );
});

test('characters of four bytes survive a cut between each of their bytes', async () => {
  const bytes = Buffer.from('{"name":"𝄞é"}\n');
  const everyByte = Array.from(bytes.keys());
  const lines = await collect(splitLines(inPieces(bytes, everyByte)));
  expect(lines).toEqual(['{"name":"𝄞é"}']);
});

test('what a cut left of the last line is not given out', async () => {
  const bytes = Buffer.from('{"a":1}\n{"b":');
  expect(await collect(splitLines(inPieces(bytes, [])))).toEqual(['{"a":1}']);
});

test('a line without an end is refused before it fills the memory', async () => {
  let sentBytes = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      sentBytes += 1_000;
      yield new Uint8Array(1_000);
    }
  }
  await expect(collect(splitLines(endless(), 10_000))).rejects.toThrow('more than 10000');
  expect(sentBytes).toBeLessThan(20_000);
});

test('nothing is read ahead of the reader', async () => {
  let chunksRead = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      chunksRead += 1;
      yield Buffer.from('1\n2\n');
    }
  }
  const lines = splitLines(chunks());
  await lines.next();
  await lines.next();
  expect(chunksRead).toBe(1);
  await lines.return();
});
