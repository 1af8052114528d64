// Reads of the stream about many objects at once stay within the limit of memory.
import { expect, test } from 'vitest';
import { readPublishedWithin } from '../../../functions/metadata/observe.ts';
import type { Session } from '../../../functions/metadata/session.ts';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import { subjectOf } from '../../../shared/feed/subjects.ts';
import { PageSize } from '../../../shared/kube/page-size.ts';
import type { StoredMessage } from '../../../shared/nats/jetstream.ts';

const SLICES = 'endpointslices';
const NODES = Array.from({ length: 1_000 }, (_, index) => `n${index}`);
const version = { epoch: 1, uid: 'u', resourceVersion: '1', kind: 'EndpointSlice' };

/** A stream with a part of each slice on each node; counts what it was made to send. */
class Parts {
  sentBytes = 0;

  async last(subjects: readonly string[]): Promise<ReadonlyMap<string, StoredMessage>> {
    const found = subjects.map((subject) => this.#message(subject));
    this.sentBytes += found.reduce((sum, { data }) => sum + data.length, 0);
    return new Map(found.map((message) => [message.subject, message]));
  }

  async lastWithin(subjects: readonly string[], bytesMax: number) {
    const found = subjects.map((subject) => this.#message(subject));
    const bytes = found.reduce((sum, { data }) => sum + data.length, 0);
    if (bytes > bytesMax) return undefined;
    return this.last(subjects);
  }

  #message(subject: string): StoredMessage {
    const isHead = subject.startsWith('p.cluster.');
    const object = {
      ...version,
      namespace: 'shop',
      name: 'a',
      labels: { filler: 'x'.repeat(200) },
    };
    const data = encodeMessage(isHead ? { ...object, nodes: NODES } : object);
    return { subject, sequence: 1, time: '', data };
  }
}

test('parts that heads name by thousands are read by few heads at a time', async () => {
  const plans = Array.from({ length: 100 }, (_, index) => {
    const key = { resource: SLICES, namespace: 'shop', name: `s${index}` };
    return { key, subjects: [subjectOf('cluster', key)] };
  });
  const stream = new Parts();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is used of one
  const session = { feed: { prefix: 'p' }, stream } as unknown as Session;
  const size = new PageSize(500, 500);
  const { signal } = new AbortController();
  expect(await readPublishedWithin(session, plans, size, signal)).toBeUndefined();
  expect(stream.sentBytes).toBeLessThan(size.bytesMax);
  const found = await readPublishedWithin(session, plans.slice(0, 5), size, signal);
  expect(found?.map((one) => one.length)).toEqual([1_001, 1_001, 1_001, 1_001, 1_001]);
});
