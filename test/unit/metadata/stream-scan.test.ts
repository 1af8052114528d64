// A stream that is added up while others write to it.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FingerprintTable } from '../../../functions/metadata/fingerprint-table.ts';
import type { LastScan } from '../../../functions/metadata/last-scan.ts';
import { StreamSums } from '../../../functions/metadata/stream-scan.ts';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import type { StoredMessage } from '../../../shared/nats/jetstream.ts';
import { readThrough } from '../../../shared/nats/read-through.ts';

const SLICES = 'endpointslices';
const subjects = [
  'node.n1.pods.web.a',
  'node.n2.pods.web.a',
  'cluster._.pods.web.a',
  'all._.nodes._.n1',
  `cluster._.${SLICES}.web.s`,
  `node.n1.${SLICES}.web.s`,
];

/** The messages of a stream, as a server would answer them. */
class Stream {
  readonly standing = new Map<string, StoredMessage>();
  sequence = 0;

  write(subject: string, isGone: boolean): void {
    this.sequence += 1;
    const { sequence } = this;
    const version = { epoch: 1, uid: 'u', resourceVersion: String(sequence) };
    const nodes = subject.startsWith(`cluster._.${SLICES}`) ? { nodes: ['n1', 'n2'] } : {};
    const data = encodeMessage(
      isGone
        ? { ...version, deleted: true, at: '' }
        : { ...version, kind: 'Any', name: 'any', ...nodes },
    );
    this.standing.set(subject, { subject: `p.${subject}`, sequence, time: '', data });
  }

  from(sequence: number): readonly StoredMessage[] {
    const found = [...this.standing.values()].filter((one) => one.sequence >= sequence);
    return found.toSorted((a, b) => a.sequence - b.sequence);
  }
}

const clock = { nowMs: () => 0, sleep: () => Promise.resolve() };
const signal = new AbortController().signal;

const saidBy = ({ ledgers, objects, strayParts }: StreamSums) => ({
  ledgers: Object.fromEntries(
    [...ledgers].map(([name, { digest }]) => [name, `${digest.objects} ${digest.toString()}`]),
  ),
  objects: Object.fromEntries([...objects].filter(([, count]) => count > 0)),
  strayParts,
});

const write = fc.record({ subject: fc.constantFrom(...subjects), isGone: fc.boolean() });

test('the sums are those of one version, whatever is written during the scan', async () => {
  const bursts = fc.array(fc.array(write, { maxLength: 4 }), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(bursts, async (rounds) => {
      const stream = new Stream();
      const rest = rounds.entries();
      const burst = (): void => {
        for (const { subject, isGone } of rest.next().value?.[1] ?? []) {
          stream.write(subject, isGone);
        }
      };
      burst();
      const sums = new StreamSums('p');
      const version = await readThrough(
        {
          settings: { name: 's', prefix: 'p', livePrefix: 'l', replicas: 1, storage: 'file' },
          state: async () => ({ messages: 0, lastSequence: stream.sequence }),
          batch: async (_filter, from) => {
            const messages = stream.from(from).slice(0, 2);
            const last = messages.at(-1);
            if (last === undefined) return { messages, pending: 0 };
            burst();
            return { messages, pending: stream.from(last.sequence + 1).length };
          },
        },
        'p.>',
        (stored) => sums.add(stored),
        { clock, signal },
      );
      expect(version).toBe(stream.sequence);
      const whole = new StreamSums('p');
      for (const stored of stream.from(0)) whole.add(stored);
      const empty = '0 0000000000000000';
      const { ledgers, ...counts } = saidBy(sums);
      const touched = Object.entries(ledgers).filter(([, text]) => text !== empty);
      const expected = saidBy(whole);
      const standing = Object.entries(expected.ledgers).filter(([, text]) => text !== empty);
      expect(new Map(touched)).toEqual(new Map(standing));
      expect(counts).toEqual({ objects: expected.objects, strayParts: expected.strayParts });
    }),
  );
});

test('sums have no version when the servers do not agree on the end of the stream', async () => {
  const behind = { subject: 'p.all._.nodes._.n1', sequence: 7, time: '', data: new Uint8Array() };
  const answers = [{ messages: [behind], pending: 0 }];
  const version = await readThrough(
    {
      settings: { name: 's', prefix: 'p', livePrefix: 'l', replicas: 3, storage: 'file' },
      state: async () => ({ messages: 1, lastSequence: 9 }),
      batch: async () => answers.shift() ?? { messages: [], pending: 0 },
    },
    'p.>',
    () => undefined,
    { clock, signal },
  );
  expect(version).toBeUndefined();
});

const SWEEP = { epoch: 1, streamId: 's', nowMs: 0 };

/** The changes behind our back that a scan of the whole stream finds since the one before. */
function scannedAfter(stream: Stream, before?: LastScan) {
  const sums = new StreamSums('p', before);
  for (const stored of stream.from(0)) sums.add(stored);
  return {
    changed: [...(before?.changed ?? [])],
    last: sums.asLastScan({ ...SWEEP, version: stream.sequence }),
  };
}

test('what writers do between two scans is nothing behind our back, in whatever order', () => {
  fc.assert(
    fc.property(fc.array(write), fc.array(write), (first, second) => {
      const stream = new Stream();
      for (const { subject, isGone } of first) stream.write(subject, isGone);
      const { last } = scannedAfter(stream);
      for (const { subject, isGone } of second) stream.write(subject, isGone);
      expect(scannedAfter(stream, last).changed).toEqual([]);
    }),
  );
});

test.each([
  ['an object comes back', ['node.n2.pods.web.a'], [], ['node.n2.pods.web.a']],
  ['an object goes', [], ['node.n1.pods.web.a'], []],
  [
    'one comes back and one goes',
    ['node.n2.pods.web.a'],
    ['node.n1.pods.web.a'],
    ['node.n2.pods.web.a'],
  ],
  ['an older message of a subject comes back', ['node.n1.pods.web.a'], [], []],
])('a scan finds out that %s, whatever the counts say', (_what, back, gone, told) => {
  const stream = new Stream();
  for (const subject of subjects) stream.write(subject, false);
  const before = new Map(stream.standing);
  stream.write('node.n2.pods.web.a', true);
  stream.write('node.n1.pods.web.a', false);
  stream.standing.delete('node.n2.pods.web.a');
  const { last } = scannedAfter(stream);
  for (const subject of gone) stream.standing.delete(subject);
  for (const subject of back) {
    const message = before.get(subject);
    if (message !== undefined) stream.standing.set(subject, message);
  }
  stream.write('all._.nodes._.n1', false);
  expect(scannedAfter(stream, last).changed).toEqual(['pods']);
  expect(last.cameBack('pods').map(({ subject }) => subject)).toEqual(told);
});

test('messages that come back are kept up to so many bytes, and their resource is listed', () => {
  const stream = new Stream();
  const { last } = scannedAfter(stream);
  const bytes = 1_000_000;
  for (let index = 1; index <= 10; index += 1) {
    const subject = `node.n1.pods.web.${index}`;
    const published = { subject, sequence: 0, bytes, message: undefined };
    last.meet(published, 'pods', { high: index, low: index, nodes: 0 });
  }
  expect(last.cameBack('pods')).toHaveLength(4);
  expect([...last.changed]).toEqual(['pods']);
});

test('the last scan counts while its stream lasts, and no tombstone since can have expired', () => {
  const { last } = scannedAfter(new Stream());
  const after = (nowMs: number, more = {}) => last.holds({ ...SWEEP, nowMs, ...more }, 240);
  expect([after(60_000), after(179_000), after(181_000)]).toEqual([true, true, false]);
  expect([after(0, { epoch: 2 }), after(0, { streamId: 'other' })]).toEqual([false, false]);
});

test('a message on no subject of the feed is found once and counts for nothing', () => {
  const stream = new Stream();
  const strange = [
    'strange.n3.pods.web.x',
    'all.n1.pods.web.x',
    'one',
    'cluster._.a.b',
    'a.b.checkpoint',
  ];
  for (const subject of strange) stream.write(subject, false);
  stream.write('strange.n3.pods.web.gone', true);
  for (const subject of [
    'all._.feed',
    'all._.floor',
    'cluster._.status',
    'namespace.web.checkpoint',
  ]) {
    stream.write(subject, false);
  }
  const sums = new StreamSums('p');
  for (const stored of stream.from(0)) sums.add(stored);
  expect(sums.foreign.map(({ subject }) => subject)).toEqual(strange);
  expect(saidBy(sums)).toEqual({
    ledgers: { 'namespace.web': '0 0000000000000000' },
    objects: {},
    strayParts: 0,
  });
});

test('the fingerprints of 100,000 objects take 6 MB at most, and none is lost', () => {
  const table = new FingerprintTable();
  const subject = (index: number): string => `node.node-${index % 5_000}.pods.web.pod-${index}`;
  for (let index = 0; index < 100_000; index += 1) {
    const mark = { high: index + 1, low: -1 - index, nodes: index % 3 };
    expect(table.swap(subject(index), mark)).toBeUndefined();
  }
  expect(table.bytes).toBeLessThan(6_000_000);
  for (let index = 0; index < 100_000; index += 1000) {
    const mark = { high: index + 1, low: -1 - index, nodes: index % 3 };
    expect(table.swap(subject(index), undefined)).toEqual(mark);
    expect(table.swap(subject(index), mark)).toBeUndefined();
  }
});
