// Which step comes next when etcd says that data is corrupt, as a table.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import type { Hash } from '../../../functions/etcd-cluster/etcd-state.ts';
import type { LeavingMember } from '../../../shared/api/etcd-cluster.ts';
import { alarms, all, type Etcd, forgotten, type Row, shown, upkeep } from './rows.ts';
import { type Differences, peerFor, silent, state, withLearner } from './samples.ts';

const EACH = ['etcd-0', 'etcd-1', 'etcd-2'];
const MINUTE_AGO = '2026-01-01T23:59:00Z';
const GOOD: Hash = { hash: 7, compactRevision: '400' };
const BAD: Hash = { hash: 8, compactRevision: '400' };
function hashes(...of: readonly (Hash | undefined)[]): Etcd {
  const found = of.flatMap((hash, ordinal) =>
    hash === undefined ? [] : [[`etcd-${ordinal}`, hash] as const],
  );
  return upkeep({ hashes: { revision: '500', told: new Map(found), missing: new Map() } });
}
const corrupt = alarms({ memberId: '1002', type: 'CORRUPT' });
/** etcd says with every pod that clients should stay away. */
const unready: Pick<Differences, 'pods'> = {
  pods: (pods) => pods.map((one) => ({ ...one, isReady: false })),
};
const leaving = (more: Partial<LeavingMember> = {}): LeavingMember => ({
  peer: 'etcd-1',
  peerUid: 'peer of etcd-1',
  memberId: '1001',
  claim: 'data-etcd-1',
  claimUid: 'claim of etcd-1',
  reason: 'Its data differs from that of the other members.',
  since: MINUTE_AGO,
  ...more,
});
const WAITS = 'wait: Find out which member is corrupt [AlarmCORRUPT] !AlarmCORRUPT';

const CORRUPT: readonly Row[] = [
  [
    'the one that differs from a quorum is recorded, whomever the alarm is for',
    { ...unready, etcd: all(corrupt, hashes(GOOD, BAD, GOOD)) },
    'write-records: Replace etcd-1',
  ],
  [
    'nobody is while all differ',
    { ...unready, etcd: all(corrupt, hashes(GOOD, BAD, { ...BAD, hash: 9 })) },
    WAITS,
  ],
  [
    'nobody is while one tells nothing',
    { etcd: all(corrupt, hashes(GOOD, undefined, GOOD)) },
    WAITS,
  ],
  ['nobody is when all agree', { etcd: all(corrupt, hashes(GOOD, GOOD, GOOD)) }, WAITS],
  ['nobody is before they are asked', { etcd: corrupt }, WAITS],
  [
    'hashes of two compactions are not compared',
    { etcd: all(corrupt, hashes(GOOD, { hash: 8, compactRevision: '300' }, GOOD)) },
    WAITS,
  ],
  [
    'two against two are no quorum',
    { ordinals: [0, 1, 2, 3], etcd: all(corrupt, hashes(GOOD, BAD, GOOD, BAD)) },
    WAITS,
  ],
  [
    'of two among five one is replaced after the other',
    { spec: { replicas: 5 }, etcd: all(corrupt, hashes(BAD, GOOD, GOOD, GOOD, BAD)) },
    'write-records: Replace etcd-0',
  ],
  [
    'not while one that agrees has gone away',
    {
      spec: { replicas: 5 },
      etcd: all(corrupt, hashes(BAD, GOOD, GOOD, GOOD, GOOD), silent('etcd-4')),
    },
    'wait: Replace etcd-0 [MemberSilent]',
  ],
  [
    'then the others remove it',
    { ...unready, etcd: all(corrupt, hashes(GOOD, BAD, GOOD)), status: { leaving: leaving() } },
    'remove-member: Replace etcd-1',
  ],
  [
    'not when its hash is that of the others by then',
    { ...unready, etcd: all(corrupt, hashes(GOOD, GOOD, GOOD)), status: { leaving: leaving() } },
    'wait: Replace etcd-1 [AlarmCORRUPT]',
  ],
  [
    'a leader hands over before it is removed',
    {
      etcd: all(corrupt, hashes(BAD, GOOD, GOOD)),
      status: { leaving: leaving({ peer: 'etcd-0', memberId: '1000' }) },
    },
    'move-leader: Replace etcd-0: let etcd-1 lead',
  ],
  [
    'it stays when somebody has ended the alarm',
    { status: { leaving: leaving() } },
    'write-records: Replace etcd-1',
  ],
  [
    'the alarm ends before its pod does: nobody could write until then',
    {
      ...unready,
      etcd: all(corrupt, hashes(GOOD, BAD, GOOD), forgotten('1001')),
      status: { leaving: leaving() },
    },
    'disarm: End the alarm CORRUPT',
  ],
  [
    'it stays while those that are left differ',
    {
      spec: { replicas: 5 },
      etcd: all(corrupt, hashes(GOOD, BAD, GOOD, BAD, GOOD), forgotten('1001')),
      status: { leaving: leaving() },
    },
    'delete-peer: Replace etcd-1',
  ],
  [
    'its record stays as long as the alarm cannot end',
    {
      ordinals: [0, 2],
      etcd: all(alarms({ memberId: '0', type: 'CORRUPT' }), hashes(GOOD)),
      status: { leaving: leaving() },
    },
    'wait: Replace etcd-1 [AlarmCORRUPT]',
  ],
  [
    'an alarm for nobody ends with it',
    {
      ordinals: [0, 2],
      etcd: all(alarms({ memberId: '0', type: 'CORRUPT' }), hashes(GOOD, undefined, GOOD)),
      status: { leaving: leaving() },
    },
    'disarm: End the alarm CORRUPT',
  ],
  [
    'the alarm of a member that somebody removed ends when the others agree',
    {
      spec: { replicas: 1 },
      ordinals: [0, 1],
      etcd: all(corrupt, hashes(GOOD, GOOD)),
    },
    'disarm: End the alarm CORRUPT',
  ],
  [
    'one that etcd raised for nobody does not',
    { etcd: all(alarms({ memberId: '0', type: 'CORRUPT' }), hashes(GOOD, GOOD, GOOD)) },
    WAITS,
  ],
  [
    'a member that was to leave stays until the corrupt one is replaced',
    {
      spec: { replicas: 3 },
      ordinals: [0, 1, 2, 3],
      etcd: all(corrupt, hashes(GOOD, BAD, GOOD, GOOD)),
      status: { leaving: leaving({ peer: 'etcd-3', memberId: '1003', reason: 'ScaleDown' }) },
    },
    'write-records: Replace etcd-1',
  ],
  [
    'a learner that cannot vote before is no reason to wait',
    {
      peers: (peers) => [...peers, peerFor(state(), 'etcd-3', [...EACH, 'etcd-3'])],
      etcd: all(withLearner(3, {}), corrupt, hashes(GOOD, BAD, GOOD)),
    },
    'write-records: Replace etcd-1',
  ],
];

test.each(CORRUPT)('%s', (_name, observed, decision) => {
  expect(shown(state(observed))).toBe(decision);
});

test('it is said what each member has, and what to do', () => {
  const { trouble } = decide(state({ etcd: all(corrupt, hashes(GOOD, BAD, undefined)) }));
  expect(trouble?.message).toBe(
    'etcd has raised the alarm CORRUPT for etcd-2, and takes no writes. Hashes of the keys at ' +
      'revision 500: etcd-0 has 7 since 400, etcd-1 has 8 since 400, etcd-2 tells none (no ' +
      'answer). No quorum of them agrees, so nobody knows which data is right: nothing is ' +
      'removed. Compare them with etcdctl, and restore a backup into another EtcdCluster if need ' +
      'be.',
  );
});

test('a record of a removal by this reason names the claim, and no other is deleted', () => {
  const { step } = decide(state({ etcd: all(corrupt, hashes(GOOD, BAD, GOOD)) }));
  const records = step?.type === 'write-records' ? step.records : {};
  const { since: _, ...expected } = leaving();
  expect(records.leaving).toMatchObject(expected);
});
