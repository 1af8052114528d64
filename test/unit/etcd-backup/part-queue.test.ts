// A stream is cut into parts, a few of which are sent at once from as many buffers.
import { expect, test } from 'vitest';
import { PartQueue } from '../../../functions/etcd-backup/part-queue.ts';

test('all bytes are sent in parts of one size, the last one as large as what is left', async () => {
  const sent = new Map<number, { text: string; offset: number }>();
  const queue = new PartQueue(4, 2, async ({ bytes, number, offset }) => {
    await Promise.resolve();
    sent.set(number, { text: bytes.toString(), offset });
  });
  for (const text of ['abc', 'defghijkl', '', 'mn']) await queue.write(Buffer.from(text));
  await queue.end();
  expect(Object.fromEntries(sent)).toEqual({
    1: { text: 'abcd', offset: 0 },
    2: { text: 'efgh', offset: 4 },
    3: { text: 'ijkl', offset: 8 },
    4: { text: 'mn', offset: 12 },
  });
});

test('the stream waits when every buffer is under way', async () => {
  const ends: (() => void)[] = [];
  const queue = new PartQueue(1, 2, () => new Promise((resolve) => ends.push(resolve)));
  let written = 0;
  const writing = (async () => {
    for (; written < 3; written += 1) await queue.write(Buffer.from('x'));
  })();
  await expect.poll(() => ends.length).toBe(2);
  expect(written).toBe(2);
  ends[0]?.();
  await writing;
  expect(ends).toHaveLength(3);
  for (const end of ends) end();
  await queue.end();
});

test('a part that could not be sent ends the stream; the others end by themselves', async () => {
  const ends: (() => void)[] = [];
  const queue = new PartQueue(1, 3, ({ number }) =>
    number === 2 ? Promise.reject(new Error('lost')) : new Promise((end) => ends.push(end)),
  );
  const writing = (async () => {
    for (let count = 0; count < 100; count += 1) await queue.write(Buffer.from('x'));
  })();
  await expect(writing).rejects.toThrow('lost');
  let isSettled = false;
  const settled = queue.settled().then(() => (isSettled = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect([ends.length > 0, isSettled]).toEqual([true, false]);
  for (const end of ends) end();
  await settled;
  await expect(queue.end()).rejects.toThrow('lost');
});
