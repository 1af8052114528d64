// Live messages that are kept while a replica catches up.
import { expect, test } from 'vitest';
import { LiveBuffer } from '../../../shared/nats/replica/live-buffer.ts';

const message = (sequence: number, bytes = 1) => ({
  subject: 'all._.pods.web.a',
  sequence,
  lastSequence: 0,
  data: new Uint8Array(bytes),
});

test.each([
  ['messages', { messages: 2, bytes: 1_000 }, 1],
  ['bytes', { messages: 1_000, bytes: 20 }, 10],
])('bounded in %s, it keeps an unbroken run from its beginning', (_, limits, bytes) => {
  const buffer = new LiveBuffer(limits);
  for (const sequence of [1, 2]) buffer.push(message(sequence, bytes));
  expect(buffer.isOverfull).toBe(false);
  for (const sequence of [3, 4]) buffer.push(message(sequence, bytes));
  expect(buffer.isOverfull).toBe(true);
  expect(buffer.take().map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(buffer.isOverfull).toBe(false);
  expect(buffer.take()).toEqual([]);
});

test('what it keeps is its own, not a view on what the socket read', () => {
  const buffer = new LiveBuffer();
  const chunk = new Uint8Array(100);
  buffer.push({ ...message(1), data: chunk.subarray(0, 3) });
  chunk.fill(7);
  expect(buffer.take()[0]?.data).toEqual(new Uint8Array(3));
});
