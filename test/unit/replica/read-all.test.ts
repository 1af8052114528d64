// Reading filter after filter while the stream goes on: what is answered must be whole.
import { expect, test } from 'vitest';
import { readAll } from '../../../shared/nats/replica/read-all.ts';
import type { StoredMessage } from '../../../shared/nats/replica/page.ts';

const soon = (): AbortSignal => AbortSignal.timeout(5_000);

/** A stream in memory; `whenRead` may write while a filter is about to be read. */
function streamOf(whenRead: (filter: string, write: (subject: string) => void) => void) {
  const stored: StoredMessage[] = [];
  const reads: string[] = [];
  let ended = 0;
  const write = (subject: string): void => {
    stored.push({ subject, sequence: stored.length + 1, data: new Uint8Array() });
  };
  const read = (filter: string, from = 0) => {
    whenRead(filter, write);
    const number = reads.push(`${filter} ${from}`);
    let seen = from - 1;
    const left = (): readonly StoredMessage[] =>
      stored.filter(({ subject, sequence }) => subject.startsWith(filter) && sequence > seen);
    return Promise.resolve({
      pending: left().length,
      next: (take: (message: StoredMessage) => void) => {
        if (number <= ended) return Promise.reject(new Error('503'));
        const [message] = left();
        if (message === undefined) return Promise.resolve(0);
        seen = message.sequence;
        take(message);
        return Promise.resolve(left().length);
      },
    });
  };
  /** As consumers do that nobody asked for some seconds. */
  const endReaders = (): void => void (ended = reads.length);
  return { read, write, reads, endReaders };
}

test('what an earlier filter got while a later one was read is not left out', async () => {
  const { read, write } = streamOf((filter, more) => {
    if (filter !== 'b') return;
    more('a');
    more('b');
  });
  write('a');
  const received = new Set<number>();
  const options = {
    filters: ['a', 'b'],
    fromSequence: undefined,
    take: ({ sequence }: StoredMessage) => void received.add(sequence),
    onLeft: () => undefined,
  };
  const reached = await readAll({ read }, options, soon());
  expect(reached).toBe(3);
  expect([...received].toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
});

test.each([
  { first: ['a'], again: 'a 2' },
  { first: [], again: 'a 0' },
])('a filter whose consumer ended while another was read is read on: $again', async (given) => {
  const { read, write, reads, endReaders } = streamOf((filter, more) => {
    if (filter !== 'b') return;
    endReaders();
    more('a');
    more('b');
  });
  for (const subject of given.first) write(subject);
  const received: string[] = [];
  const options = {
    filters: ['a', 'b'],
    fromSequence: undefined,
    take: ({ subject, sequence }: StoredMessage) => void received.push(`${subject} ${sequence}`),
    onLeft: () => undefined,
  };
  await readAll({ read }, options, soon());
  expect(received).toContain(`a ${given.first.length + 1}`);
  expect(reads).toEqual(['a 0', 'b 0', given.again]);
});

test('nothing there is nothing read', async () => {
  const { read } = streamOf(() => undefined);
  const options = {
    filters: ['a', 'b'],
    fromSequence: 5,
    take: () => expect.unreachable(),
    onLeft: () => expect.unreachable(),
  };
  expect(await readAll({ read }, options, soon())).toBe(0);
});
