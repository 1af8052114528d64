// When a feed begins anew: as soon as the status and the stream no longer tell the same story.
import { expect, test } from 'vitest';
import {
  startEpoch,
  type NewEpochReason,
  reasonForNewEpoch,
} from '../../../functions/metadata/epoch.ts';
import type { MetadataFeedStatus } from '../../../shared/api/metadata-feed.ts';
import type { Marker } from '../../../shared/feed/messages.ts';

const marker = (changes: Partial<Marker> = {}): Marker => ({
  format: 1,
  id: 'one',
  epoch: 3,
  ready: true,
  resources: ['pods'],
  historySeconds: 60,
  ...changes,
});
const STATUS: MetadataFeedStatus = { epoch: 3, streamId: 'one', version: 50 };

const rows: readonly {
  readonly says: string;
  readonly status: MetadataFeedStatus;
  readonly marker: Marker | undefined;
  readonly lastSequence: number;
  readonly reason: NewEpochReason | undefined;
}[] = [
  { says: 'both agree', status: STATUS, marker: marker(), lastSequence: 50, reason: undefined },
  { says: 'a new feed', status: {}, marker: undefined, lastSequence: 0, reason: 'StreamIsEmpty' },
  {
    says: 'a lost stream',
    status: STATUS,
    marker: undefined,
    lastSequence: 0,
    reason: 'StreamIsEmpty',
  },
  {
    says: 'a lost status',
    status: {},
    marker: marker(),
    lastSequence: 50,
    reason: 'StatusIsForeign',
  },
  {
    says: 'the stream of somebody else',
    status: STATUS,
    marker: marker({ id: 'two' }),
    lastSequence: 50,
    reason: 'StatusIsForeign',
  },
  {
    says: 'a status written just before a crash',
    status: { ...STATUS, epoch: 4 },
    marker: marker(),
    lastSequence: 50,
    reason: 'StatusIsForeign',
  },
  {
    says: 'a lost end',
    status: STATUS,
    marker: marker(),
    lastSequence: 49,
    reason: 'StreamLostItsEnd',
  },
];

test.each(rows)('$says: $reason', ({ status, marker: there, lastSequence, reason }) => {
  expect(reasonForNewEpoch(status, there, lastSequence)).toBe(reason);
});

test('a new epoch is higher than those of the status and the marker', () => {
  expect(startEpoch('StatusIsForeign', { epoch: 2 }, marker({ epoch: 7 })).epoch).toBe(8);
  expect(startEpoch('StreamIsEmpty', { epoch: 9 }, undefined).epoch).toBe(10);
});

test('the stream keeps its identity only when its sequences still hold', () => {
  expect(startEpoch('RevisionsWentBack', STATUS, marker()).streamId).toBe('one');
  expect(startEpoch('StreamLostItsEnd', STATUS, marker()).streamId).not.toBe('one');
});
