// Messages change what is held: in any order, doubled or not, the newest of each subject wins, and
// the sums of the ledgers are those of what is held.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Digest, fingerprint } from '../../../shared/feed/digest.ts';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import { Catalog } from '../../../shared/nats/replica/catalog.ts';
import type { Change } from '../../../shared/nats/replica/changes.ts';
import { Holdings } from '../../../shared/nats/replica/holdings.ts';
import { Ledgers } from '../../../shared/nats/replica/ledgers.ts';
import { ledgerOf } from '../../../shared/nats/replica/scope.ts';
import type { StoredMessage } from '../../../shared/nats/replica/page.ts';

function world() {
  const told: Change[] = [];
  const catalog = new Catalog({ historySeconds: 60 });
  const ledgers = new Ledgers(
    () => true,
    () => 0,
  );
  const holdings = new Holdings({
    catalog,
    ledgers,
    ledgerOf: (subject) => ledgerOf('cluster', subject),
    emit: (change) => void told.push(change),
  });
  const inWords = (): string[] =>
    told.map((change) =>
      change.type === 'resync' ? change.type : `${change.type} ${change.entry.key.name}`,
    );
  return { catalog, ledgers, holdings, told, inWords };
}

const subjectOf = (name: string): string => `node.n1.pods.web.${name}`;

function value(name: string, sequence: number, more: object = {}): StoredMessage {
  const object = { epoch: 1, kind: 'Pod', namespace: 'web', name, uid: name };
  const data = encodeMessage({ ...object, resourceVersion: String(sequence), ...more });
  return { subject: subjectOf(name), sequence, data };
}

function tombstone(name: string, sequence: number): StoredMessage {
  const at = '2026-01-01T00:00:00Z';
  const message = { deleted: true, epoch: 1, uid: name, resourceVersion: '1', at } as const;
  return { subject: subjectOf(name), sequence, data: encodeMessage(message) };
}

const versions = (catalog: Catalog): Record<string, number> =>
  Object.fromEntries(Array.from(catalog.entries(), (entry) => [entry.key.name, entry.version]));

const stream = fc
  .array(fc.record({ name: fc.constantFrom('a', 'b', 'c'), isGone: fc.boolean() }), {
    maxLength: 20,
  })
  .map((rows) =>
    rows.map(({ name, isGone }, at) => (isGone ? tombstone(name, at + 1) : value(name, at + 1))),
  );

test('order and repetition make no difference', () => {
  const shuffled = stream.chain((messages) =>
    fc.tuple(
      fc.constant(messages),
      fc.shuffledSubarray([...messages, ...messages], { minLength: messages.length * 2 }),
    ),
  );
  const property = fc.property(shuffled, ([messages, mixed]) => {
    const [straight, other] = [world(), world()];
    for (const message of messages) straight.holdings.apply(message);
    for (const message of mixed) other.holdings.apply(message);
    expect(versions(other.catalog)).toEqual(versions(straight.catalog));
    const digest = new Digest();
    for (const { subject, data, sequence } of messages) {
      if (straight.catalog.entry(subject)?.version === sequence) {
        digest.add(fingerprint(subject, data));
      }
    }
    const { objects } = digest;
    const sum = { epoch: 1, version: 999, objects, digest: digest.toString() };
    other.ledgers.note('node.n1', 1_000, sum);
    expect(other.ledgers.caughtUp(1_000_000, 0)).toBe(true);
  });
  fc.assert(property);
});

test('what a snapshot did not show is gone; what it shows as it was, is not told', () => {
  const { holdings, inWords, catalog } = world();
  for (const message of [value('a', 1), value('b', 2), value('c', 3)]) holdings.apply(message);
  holdings.startSnapshot();
  holdings.apply(value('b', 2));
  holdings.apply(value('c', 5, { phase: 'Running' }));
  holdings.finishSnapshot(5);
  expect(inWords().slice(3)).toEqual(['changed c', 'removed a']);
  expect(versions(catalog)).toEqual({ b: 2, c: 5 });
});

test('of another stream any sequence is newer, and only what differs is told', () => {
  const { holdings, inWords, catalog } = world();
  for (const message of [value('a', 11), value('b', 12)]) holdings.apply(message);
  holdings.startOver();
  holdings.startSnapshot();
  holdings.apply(value('a', 3, { epoch: 2, resourceVersion: '11' }));
  holdings.apply(value('b', 4, { epoch: 2, resourceVersion: '13' }));
  holdings.apply(value('b', 2, { epoch: 2, resourceVersion: '12' }));
  holdings.finishSnapshot(4);
  expect(inWords().slice(2)).toEqual(['changed b']);
  expect(versions(catalog)).toEqual({ a: 3, b: 4 });
});

test('what is none of the feed’s is counted', () => {
  const { holdings, catalog } = world();
  const data = new TextEncoder().encode('hello');
  holdings.apply({ subject: 'node.n1.pods.web.a', sequence: 1, data });
  holdings.apply({ subject: 'over.there', sequence: 2, data });
  expect(holdings.foreign).toBe(2);
  expect(catalog.size).toBe(0);
});
