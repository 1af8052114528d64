// Which step comes next for databases that are full or mostly free, as tables.
import { describe, expect, test } from 'vitest';
import type { MemberAnswer } from '../../../functions/etcd-cluster/etcd-state.ts';
import type { DefragmentingMember } from '../../../shared/api/etcd-cluster.ts';
import { alarms, all, type Etcd, outdated, type Row, shown, upkeep } from './rows.ts';
import { NOW_MS, silent, state } from './samples.ts';

const GIB = 2 ** 30;
const QUOTA = 2 * GIB;
const MINUTE_AGO = '2026-01-01T23:59:00Z';

/** The same of each of these members. */
const told =
  (names: readonly string[], answer: Partial<MemberAnswer>): Etcd =>
  (etcd) => ({
    ...etcd,
    answers: new Map(
      [...etcd.answers].map(([name, one]) => [
        name,
        names.includes(name) ? { ...one, ...answer } : one,
      ]),
    ),
  });

const EACH = ['etcd-0', 'etcd-1', 'etcd-2'];
const space = alarms({ memberId: '1001', type: 'NOSPACE' });
const ofHistory = { databaseBytes: QUOTA, databaseBytesInUse: QUOTA };
const ofFree = { databaseBytes: QUOTA, databaseBytesInUse: QUOTA / 8 };
const compacting = { revision: '500', since: MINUTE_AGO };
const defragmenting = (more: Partial<DefragmentingMember> = {}): DefragmentingMember => ({
  peer: 'etcd-1',
  memberId: '1001',
  databaseBytes: QUOTA,
  since: MINUTE_AGO,
  ...more,
});

const SPACE: readonly Row[] = [
  ['an alarm that is no longer true ends', { etcd: space }, 'disarm: End the alarm NOSPACE'],
  [
    'not while a member does not say how large it is',
    { etcd: all(space, silent('etcd-2')) },
    'wait: Make room [MemberSilent]',
  ],
  [
    'not while one is near its quota, which is defragmented first',
    { etcd: all(space, told(['etcd-2'], ofFree)) },
    'write-records: Defragment etcd-2',
  ],
  [
    'history is forgotten when nothing is free, and recorded before',
    { etcd: all(space, told(EACH, ofHistory)) },
    'write-records: Make room',
  ],
  [
    'the recorded compaction is done',
    {
      etcd: all(space, told(EACH, ofHistory), upkeep({ isCompacted: false })),
      status: { compacting },
    },
    'compact: Make room',
  ],
  [
    'what it frees is counted until a full member is defragmented, which is recorded before',
    {
      etcd: all(space, told(EACH, ofHistory), upkeep({ isCompacted: true })),
      status: { compacting },
    },
    'write-records: Defragment etcd-1',
  ],
  [
    'each of them once',
    {
      etcd: all(space, told(EACH, ofHistory), upkeep({ isCompacted: true })),
      status: { compacting: { ...compacting, defragmented: ['etcd-1'] } },
    },
    'write-records: Defragment etcd-2',
  ],
  [
    'then keys fill it, and nothing is done again before there is something new',
    {
      etcd: all(space, told(EACH, ofHistory), upkeep({ isCompacted: true })),
      status: { compacting: { ...compacting, defragmented: EACH } },
    },
    'wait: Make room [AlarmNOSPACE] !AlarmNOSPACE',
  ],
  [
    'a compaction is given time to free what it forgets',
    {
      etcd: all(space, told(EACH, ofHistory), upkeep({ isCompacted: true })),
      status: { compacting: { revision: '500', since: '2026-01-01T23:59:59Z' } },
    },
    'wait: Make room [AlarmNOSPACE]',
  ],
  [
    'keys that were deleted since are forgotten a minute later',
    {
      etcd: all(
        space,
        told(EACH, { ...ofHistory, revision: '600' }),
        upkeep({ isCompacted: true }),
      ),
      status: { compacting },
    },
    'write-records: Make room',
  ],
  [
    'not with a member that may lack what the others have',
    {
      etcd: all(
        space,
        told(EACH, { ...ofHistory, revision: '600' }),
        told(['etcd-2'], { revision: '500' }),
        upkeep({ isCompacted: true }),
      ),
      status: { compacting: { ...compacting, defragmented: EACH } },
    },
    'wait: Make room [AlarmNOSPACE] !AlarmNOSPACE',
  ],
  [
    'a larger quota is brought to the members before anything is forgotten',
    {
      spec: { quota: '4Gi' },
      peers: (peers) => peers.map((one) => ({ ...one, spec: { ...one.spec, quota: '2Gi' } })),
      etcd: all(space, told(EACH, ofHistory)),
    },
    'update-peer: Restart etcd-1',
  ],
  [
    'and ends the alarm once all have it',
    {
      spec: { quota: '4Gi' },
      etcd: all(space, told(EACH, { ...ofHistory, quotaBytes: 2 * QUOTA })),
    },
    'disarm: End the alarm NOSPACE',
  ],
  [
    'a lost volume is replaced all the same',
    {
      etcd: all(space, told(EACH, ofHistory), upkeep({ isCompacted: true }), silent('etcd-2')),
      lost: { 'etcd-2': 'Why.' },
      status: { compacting },
    },
    'write-records: Replace etcd-2',
  ],
  ['the record goes with the alarm', { status: { compacting } }, 'write-records: Make room'],
];

const free = told(['etcd-0', 'etcd-1'], { databaseBytes: GIB, databaseBytesInUse: GIB / 4 });

const DEFRAGMENTATION: readonly Row[] = [
  [
    'a follower with much that is free is recorded',
    { etcd: free },
    'write-records: Defragment etcd-1',
  ],
  [
    'the leader comes last, and hands over',
    { etcd: told(['etcd-0'], { databaseBytes: GIB, databaseBytesInUse: GIB / 4 }) },
    'move-leader: Defragment etcd-0: let etcd-1 lead',
  ],
  [
    'a small database is not worth it',
    { etcd: told(EACH, { databaseBytes: 2 ** 26, databaseBytesInUse: 2 ** 20 }) },
    'wait: Nothing',
  ],
  [
    'nor is a small share',
    { etcd: told(EACH, { databaseBytes: GIB, databaseBytesInUse: GIB * 0.6 }) },
    'wait: Nothing',
  ],
  [
    'but near the quota it is',
    { etcd: told(EACH, { databaseBytes: QUOTA * 0.85, databaseBytesInUse: QUOTA * 0.6 }) },
    'write-records: Defragment etcd-1',
  ],
  [
    'not while a member is away',
    { etcd: all(free, silent('etcd-2')) },
    'wait: Nothing [MemberSilent]',
  ],
  [
    'not before another spec is there',
    { etcd: free, pods: outdated('etcd-2-0') },
    'write-records: Restart etcd-2',
  ],
  [
    'not when it is not wanted',
    { spec: { defragmentation: { mode: 'None' } }, etcd: free },
    'wait: Nothing',
  ],
  [
    'not outside the window',
    { spec: { defragmentation: { mode: 'Automatic', window: '01:00-05:00' } }, etcd: free },
    'wait: Nothing',
  ],
  [
    'a window may go over midnight',
    { spec: { defragmentation: { mode: 'Automatic', window: '23:00-05:00' } }, etcd: free },
    'write-records: Defragment etcd-1',
  ],
  [
    'the recorded one is asked',
    { etcd: told(['etcd-1'], ofFree), status: { defragmenting: defragmenting() } },
    'defragment: Defragment etcd-1',
  ],
  [
    'once, while it is at it',
    {
      etcd: all(told(['etcd-1'], ofFree), upkeep({ busy: 'etcd-1' })),
      status: { defragmenting: defragmenting() },
    },
    'wait: Defragment etcd-1 [Defragmenting]',
  ],
  [
    'and told when that takes too long',
    {
      etcd: all(told(['etcd-1'], ofFree), upkeep({ busy: 'etcd-1' })),
      status: { defragmenting: defragmenting() },
      nowMs: NOW_MS + 3_600_000,
    },
    'wait: Defragment etcd-1 [Defragmenting] !DefragmentationLate',
  ],
  [
    'a silent one is waited for',
    { etcd: silent('etcd-1'), status: { defragmenting: defragmenting() } },
    'wait: Defragment etcd-1 [MemberSilent]',
  ],
  [
    'it is not asked when another one has gone away meanwhile',
    {
      etcd: all(told(['etcd-1'], ofFree), silent('etcd-2')),
      status: { defragmenting: defragmenting() },
    },
    'write-records: Defragment etcd-1',
  ],
  [
    'smaller it is done',
    { etcd: told(['etcd-1'], { databaseBytes: GIB }), status: { defragmenting: defragmenting() } },
    'write-records: Defragment etcd-1',
  ],
  [
    'or no smaller, when etcd has said that it is done',
    {
      etcd: all(told(['etcd-1'], ofFree), upkeep({ isDefragmented: true })),
      status: { defragmenting: defragmenting() },
    },
    'write-records: Defragment etcd-1',
  ],
  [
    'one whose volume is lost is left to be replaced',
    {
      etcd: silent('etcd-1'),
      lost: { 'etcd-1': 'Why.' },
      status: { defragmenting: defragmenting() },
    },
    'write-records: Defragment etcd-1',
  ],
];

describe.each([
  ['a full database', SPACE],
  ['defragmentation', DEFRAGMENTATION],
] as const)('%s', (_, rows) => {
  test.each(rows)('%s', (_name, observed, decision) => {
    expect(shown(state(observed))).toBe(decision);
  });
});
