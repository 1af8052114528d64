// Catching up while live messages come: what was lost on the way is missed before the replica says
// that it is current.
import { expect, test } from 'vitest';
import { systemClock } from '../../../shared/clock.ts';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import { MARKER_SUBJECT } from '../../../shared/feed/subjects.ts';
import { Catalog } from '../../../shared/nats/replica/catalog.ts';
import { Follower } from '../../../shared/nats/replica/follower.ts';
import { Holdings } from '../../../shared/nats/replica/holdings.ts';
import { Ledgers } from '../../../shared/nats/replica/ledgers.ts';
import type { StoredMessage } from '../../../shared/nats/replica/page.ts';
import { Progress } from '../../../shared/nats/replica/progress.ts';
import { ledgerOf } from '../../../shared/nats/replica/scope.ts';
import { StateBoard } from '../../../shared/nats/replica/state.ts';
import { Sweeps } from '../../../shared/nats/replica/sweeps.ts';

const SUBJECT = { a: 'node.n1.pods.web.a', b: 'node.n1.pods.web.b' };

function stored(name: 'a' | 'b', sequence: number): StoredMessage {
  const object = { epoch: 1, kind: 'Pod', namespace: 'web', name, uid: name };
  const data = encodeMessage({ ...object, resourceVersion: String(sequence) });
  return { subject: SUBJECT[name], sequence, data };
}

const MARKER = {
  format: 1,
  id: 'one',
  epoch: 1,
  ready: true,
  historySeconds: 600,
  sweepSeconds: 60,
};

function world() {
  const catalog = new Catalog({ historySeconds: 60 });
  const nowMs = (): number => systemClock.nowMs();
  const ledgers = new Ledgers(() => true, nowMs);
  const holdings = new Holdings({
    catalog,
    ledgers,
    ledgerOf: (subject) => ledgerOf('cluster', subject),
    emit: () => undefined,
  });
  const board = new StateBoard();
  const progress = new Progress({ holdings, ledgers, clock: systemClock, from: undefined });
  const follower = new Follower({
    filters: ['>'],
    holdings,
    ledgers,
    progress,
    board,
    sweeps: new Sweeps(systemClock, () => undefined),
    clock: systemClock,
    onMarker: () => undefined,
    warn: () => undefined,
  });
  const names = (): string[] => Array.from(catalog.entries(), ({ key }) => key.name).toSorted();
  return { follower, board, names };
}

/** `pages` are the messages of one reading after the other; `whileReading` may bring live ones. */
function sourceOf(pages: readonly (readonly StoredMessage[])[], whileReading: () => void) {
  let reads = 0;
  return {
    open: async () => undefined,
    last: async (subject: string) =>
      subject === MARKER_SUBJECT
        ? { subject, sequence: 1, data: Buffer.from(JSON.stringify(MARKER)), storedAtMs: 0 }
        : undefined,
    readAtMs: 0,
    read: async () => {
      const page = pages[reads] ?? [];
      reads += 1;
      return {
        pending: page.length,
        next: async (take: (message: StoredMessage) => void) => {
          for (const message of page) take(message);
          if (reads === 1) whileReading();
          return 0;
        },
      };
    },
  };
}

test('a message in the buffer that shows a loss is a gap, as one that comes live', async () => {
  const { follower, board, names } = world();
  // A tombstone of b, 6, and a change of a, 7, never came live; 8 did, while the page was read.
  const lost = () => follower.onMessage({ ...stored('a', 8), lastSequence: 7 });
  const source = sourceOf([[stored('b', 4), stored('a', 5)], [stored('a', 8)]], lost);
  const running = follower.run(source);
  await expect.poll(() => board.state.phase).toBe('current');
  expect({ names: names(), gaps: follower.counts.gaps }).toEqual({ names: ['a'], gaps: 1 });
  follower.close();
  await running;
});

test('messages in the buffer that the page has too, and those after them, are no gap', async () => {
  const { follower, board, names } = world();
  const more = (): void => {
    follower.onMessage({ ...stored('a', 5), lastSequence: 2 });
    follower.onMessage({ ...stored('b', 6), lastSequence: 4 });
    follower.onMessage({ ...stored('b', 7), lastSequence: 6 });
  };
  const running = follower.run(sourceOf([[stored('b', 4), stored('a', 5)]], more));
  await expect.poll(() => board.state.phase).toBe('current');
  expect({ names: names(), gaps: follower.counts.gaps }).toEqual({ names: ['a', 'b'], gaps: 0 });
  expect(board.state.version).toBe(7);
  follower.close();
  await running;
});
