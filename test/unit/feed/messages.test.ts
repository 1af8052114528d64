// Messages come back as they were, and what is none of ours is told apart from them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../../builders/any-text.ts';
import {
  type Tombstone,
  decodeCheckpoint,
  decodeFloor,
  decodeMarker,
  decodeMessage,
  encodeMessage,
  isTombstone,
} from '../../../shared/feed/messages.ts';
import { show } from '../../../shared/feed/projections/show.ts';
import { plan, pod } from './objects.ts';

const decoders = [decodeMessage, decodeMarker, decodeCheckpoint, decodeFloor];
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('an object comes back as it was shown', () => {
  for (const { message } of show('pods', pod, plan)) {
    const back = decodeMessage(encodeMessage(message));
    expect(back).toStrictEqual(message);
    expect(back === undefined || isTombstone(back)).toBe(false);
  }
});

test('a tombstone comes back, and is one', () => {
  const tombstone: Tombstone = {
    deleted: true,
    epoch: 2,
    uid: 'u',
    resourceVersion: '9',
    at: '2026-11-21T10:00:00.000Z',
    moved: true,
    last: { kind: 'Pod', node: 'n1', ips: ['10.0.0.1'] },
  };
  const back = decodeMessage(encodeMessage(tombstone));
  expect(back).toStrictEqual(tombstone);
  expect(back !== undefined && isTombstone(back)).toBe(true);
});

test('marker, checkpoint and floor come back', () => {
  const marker = {
    format: 1,
    id: 'x',
    epoch: 3,
    ready: true,
    resources: ['pods', 'widgets.example.com'],
    historySeconds: 60,
  } as const;
  const checkpoint = { epoch: 3, version: 9, objects: 12, digest: '17ec03b09353c348' };
  expect(decodeMarker(encodeMessage(marker))).toStrictEqual(marker);
  expect(decodeCheckpoint(encodeMessage(checkpoint))).toStrictEqual(checkpoint);
  expect(decodeFloor(encodeMessage({ version: 17 }))).toStrictEqual({ version: 17 });
});

test('a text of any script comes back', () => {
  const [shown] = show('pods', pod, plan);
  fc.assert(
    fc.property(anyText(), (reason) => {
      const message = { ...shown?.message, reason } as Parameters<typeof encodeMessage>[0];
      expect(decodeMessage(encodeMessage(message))).toEqual(message);
    }),
  );
});

test.each(['', 'x', 'null', 'true', '7', '"text"', '[]', '[1,2]', '{}', '{"deleted":true}', '{'])(
  'the foreign text %j is no message of any kind',
  (text) => {
    for (const decode of decoders) expect(decode(bytes(text))).toBeUndefined();
  },
);

test.each([
  { epoch: '1', uid: 'u', resourceVersion: '1', kind: 'Pod', name: 'a' },
  { epoch: 1, resourceVersion: '1', kind: 'Pod', name: 'a' },
  { epoch: 1, uid: 'u', resourceVersion: 1, kind: 'Pod', name: 'a' },
  { epoch: 1, uid: 'u', resourceVersion: '1', kind: 'Pod' },
  { epoch: 1, uid: 'u', resourceVersion: '1', deleted: 'yes' },
  { epoch: 1, uid: 'u', resourceVersion: '1', kind: 'X', name: 'a', nodes: 'n1' },
  { epoch: 1, uid: 'u', resourceVersion: '1', kind: 'X', name: 'a', nodes: [5] },
  { epoch: 1, uid: 'u', resourceVersion: '1', kind: 'X', name: 'a', nodes: ['n'.repeat(254)] },
])('%j is no object message', (value) => {
  expect(decodeMessage(bytes(JSON.stringify(value)))).toBeUndefined();
});

test.each([
  ['of another format', { format: 2, epoch: 1 }],
  ['of an epoch that none can follow', { format: 1, epoch: 1e300 }],
  ['of half an epoch', { format: 1, epoch: 0.5 }],
])('a marker %s is none', (_what, odd) => {
  const marker = { id: 'x', ready: true, resources: [], historySeconds: 0, ...odd };
  expect(decodeMarker(bytes(JSON.stringify(marker)))).toBeUndefined();
});

test('no bytes make a decoder fail', () => {
  const anyBytes = fc.oneof(fc.uint8Array(), fc.json().map(bytes));
  fc.assert(
    fc.property(anyBytes, (data) => {
      for (const decode of decoders) expect(() => decode(data)).not.toThrow();
    }),
  );
});
