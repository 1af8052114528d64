// A table of objects, and what console calls wrong of each.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/console/decide.ts';
import { SHOWN_KINDS } from '../../../functions/console/kinds.ts';
import type { KindObservation } from '../../../functions/console/observe.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { readSweepLease } from '../../../shared/kube/sweep-lease.ts';
import type { ReplicaState } from '../../../shared/nats/replica/state.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();
const letters = { events: [] };
const CURRENT: ReplicaState = { phase: 'current', version: 7 };

const said = (type: string, status: string, reason = 'Said') => ({
  type,
  status,
  reason,
  message: `${type} is ${status}.`,
  lastTransitionTime: ago(60),
});

const object = (
  conditions: readonly object[],
  status: object = {},
  spec: object = {},
): KubeObject =>
  ({
    metadata: { namespace: 'shop', name: 'main', uid: 'u', creationTimestamp: ago(3_600) },
    spec,
    status: { ...status, conditions },
  }) as unknown as KubeObject;

const lease = (renewedSecondsAgo: number, failing: object = {}) =>
  readSweepLease({
    metadata: { annotations: { 'ballast.dev/not-looked-at': JSON.stringify(failing) } },
    spec: { renewTime: ago(renewedSecondsAgo), leaseDurationSeconds: 180 },
  } as unknown as KubeObject);

function observed(kind: string, objects: readonly KubeObject[], renewedAgo = 10, failing = {}) {
  const shown = SHOWN_KINDS.find((one) => one.kind === kind);
  if (shown === undefined) throw new Error(`${kind} is not shown`);
  const own = shown.watched === undefined ? {} : { lease: lease(renewedAgo, failing) };
  return { shown, objects, isCut: false, ...own };
}

const told = (one: KindObservation, replica = CURRENT): readonly string[] =>
  decide({ nowMs: NOW, kinds: [one], letters, replica }).map(
    ({ severity, name = '-', reason }) => `${severity} ${name} ${reason}`,
  );

const READY = said('Ready', 'True');
const QUORATE = said('Quorate', 'True');

const CASES: readonly (readonly [
  name: string,
  kind: string,
  conditions: readonly object[],
  status: object,
  expected: readonly string[],
])[] = [
  ['a NATS that is well', 'NatsCluster', [READY, said('Degraded', 'False')], {}, []],
  [
    'one that is not ready',
    'NatsCluster',
    [said('Ready', 'False')],
    {},
    ['critical main Ready: Said'],
  ],
  [
    'one that nobody renews',
    'NatsCluster',
    [said('Ready', 'Unknown')],
    {},
    ['unknown main Ready: Said'],
  ],
  [
    'one of which no server answers',
    'NatsCluster',
    [said('Ready', 'Unknown', 'NoContact')],
    {},
    ['critical main Ready: NoContact'],
  ],
  ['one without a word', 'NatsCluster', [], {}, ['unknown main NoStatus']],
  [
    'one that waits',
    'NatsCluster',
    [READY],
    { plan: { waitsFor: 'It waits.' } },
    ['note main Waits'],
  ],
  [
    'a quorum that is lost',
    'EtcdCluster',
    [READY, said('Quorate', 'False')],
    {},
    ['critical main Quorate: Said'],
  ],
  [
    'one cause of two conditions, which is told once',
    'EtcdCluster',
    ['Ready', 'Quorate'].map((type) => ({
      ...said(type, 'Unknown', 'NoContact'),
      message: 'Mute.',
    })),
    {},
    ['critical main Quorate: NoContact'],
  ],
  ['an etcd without a schedule', 'EtcdCluster', [READY, QUORATE], {}, []],
  [
    'an old backup',
    'EtcdCluster',
    [READY, QUORATE, said('BackupReady', 'False')],
    {},
    ['warning main BackupReady: Said'],
  ],
  [
    'an etcd that sleeps',
    'EtcdCluster',
    [said('Ready', 'False', 'Hibernating'), QUORATE],
    {},
    ['note main Ready: Hibernating'],
  ],
  ['a backup under way', 'EtcdBackup', [said('Complete', 'False')], { phase: 'Running' }, []],
  [
    'a backup that failed',
    'EtcdBackup',
    [said('Complete', 'False')],
    { phase: 'Failed' },
    ['warning main Complete: Said'],
  ],
  [
    'a migration that is blocked',
    'StorageMigration',
    [said('Blocked', 'True')],
    {},
    ['warning main Blocked: Said'],
  ],
  [
    'a plan that is refused',
    'Takeover',
    [said('Planned', 'False')],
    {},
    ['warning main Planned: Said'],
  ],
];

test.each(CASES)('%s', (_, kind, conditions, status, expected) => {
  expect(told(observed(kind, [object(conditions, status)]))).toEqual(expected);
});

test('where nobody has promised backups, a schedule is to be made', () => {
  const promised = object([READY, QUORATE, said('BackupReady', 'Unknown', 'NoSchedule')]);
  const late = object([READY, QUORATE, said('BackupReady', 'False', 'TooOld')]);
  const kinds = [observed('EtcdCluster', [promised, late])];
  const advice = decide({ nowMs: NOW, kinds, letters, replica: CURRENT }).map(({ next }) => next);
  expect(advice).toEqual([
    expect.stringMatching(/^Look at the EtcdBackupSchedule of it/),
    expect.stringMatching(/^Make an EtcdBackupSchedule of it/),
  ]);
});

test('what nobody looks at is unknown, once for all of a kind, and never for what is over', () => {
  const two = [object([READY]), object([READY])];
  expect(told(observed('NatsCluster', two, 181))).toEqual(['unknown - NotSwept']);
  expect(told(observed('NatsCluster', two, 179))).toEqual([]);
  const over = object([said('Complete', 'True')], { phase: 'Complete' });
  expect(told(observed('EtcdBackup', [over], 9_999))).toEqual([]);
});

test('an object at which each look fails is unknown by itself', () => {
  const failing = { 'shop/main': ago(600) };
  expect(told(observed('NatsCluster', [object([READY])], 10, failing))).toEqual([
    'unknown main NotSwept',
  ]);
});

test('a feed is as old as its last sweep', () => {
  const well = [READY, said('InSync', 'True')];
  const swept = (seconds: number) =>
    told(observed('MetadataFeed', [object(well, { sweptAt: ago(seconds) }, { sweepSeconds: 60 })]));
  expect([swept(179), swept(181)]).toEqual([[], ['unknown main NotSwept']]);
});

test('what cannot be read is no good news, and hides nothing else', () => {
  const failed = { ...observed('NatsCluster', []), failure: 'The API server does not answer.' };
  const lost = observed('EtcdCluster', [object([READY, said('Quorate', 'False')])]);
  const kinds = [failed, lost];
  const all = decide({ nowMs: NOW, kinds, letters, replica: { phase: 'wrong', version: 1 } });
  expect(all.map(({ severity, kind, reason }) => [severity, kind, reason])).toEqual([
    ['critical', 'EtcdCluster', 'Quorate: Said'],
    ['warning', 'MetadataFeed', 'NotCurrent'],
    ['unknown', 'NatsCluster', 'NotRead'],
  ]);
});

test('each kind says what to do, and where that is written down', () => {
  for (const { docs, expects } of SHOWN_KINDS) {
    expect(docs).toMatch(/^docs\/[a-z-]+\.md#[a-z-]+$/);
    for (const { next } of expects) expect(next).toMatch(/^[A-Z].{20,}\.$/);
  }
});
