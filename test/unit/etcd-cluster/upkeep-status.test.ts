// The status as to sizes, trouble with pods and claims, and the keys that fill a
// database.
import { expect, test } from 'vitest';
import { describeLargest } from '../../../functions/etcd-cluster/largest.ts';
import { statusUpdateOf } from '../../../functions/etcd-cluster/status.ts';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import { type State, recordsOf } from '../../../functions/etcd-cluster/state.ts';
import type { MemberStatus } from '../../../shared/api/etcd-cluster.ts';
import { alarmsIn } from '../../../shared/etcd/admin/alarms.ts';
import { NOW_MS, state } from './samples.ts';

const updateOf = (of: State) => statusUpdateOf(of, decide(of), recordsOf(of), new Map());
const membersIn = (of: State) => updateOf(of).status.members;

/** A minute later, with these sizes. */
function later(members: readonly MemberStatus[] | undefined, bytes: number, revision: string) {
  return state({
    nowMs: NOW_MS + 60_000,
    status: members === undefined ? {} : { members },
    etcd: (etcd) => ({
      ...etcd,
      answers: new Map(
        [...etcd.answers].map(([name, one]) => [name, { ...one, databaseBytes: bytes, revision }]),
      ),
    }),
  });
}

test('sizes and revisions are told, and a little more of them writes nothing', () => {
  const first = membersIn(state());
  expect(first?.[0]).toMatchObject({
    databaseBytes: 100_000,
    databaseBytesInUse: 90_000,
    revision: 500,
  });
  expect(membersIn(later(first, 90_000_000, '70000'))).toEqual(first);
  const [moved] = membersIn(later(first, 120_000_000, '70000')) ?? [];
  expect(moved).toMatchObject({ databaseBytes: 120_000_000, revision: 70_000 });
});

test('they are brought up to date with whatever else of a member changes', () => {
  const first = membersIn(state())?.map((one) => ({ ...one, upToDate: false }));
  const [now] = membersIn(later(first, 200_000, '501')) ?? [];
  expect(now).toMatchObject({ upToDate: true, databaseBytes: 200_000, revision: 501 });
});

test('what etcd-peer finds wrong with a claim is told on the cluster, and only of its own', () => {
  const degraded = (isOurs: boolean) => {
    const trouble = {
      type: 'Degraded',
      status: 'True',
      reason: 'StorageCannotGrow',
      message: 'Storage class standard does not let claims grow.',
    } as const;
    const of = state({
      peers: (peers) =>
        peers.map((one) =>
          one.name === 'etcd-1'
            ? { ...one, isOurs, status: { ...one.status, conditions: [trouble] } }
            : one,
        ),
    });
    return updateOf(of).conditions.find(({ type }) => type === 'Degraded');
  };
  expect(degraded(true)).toMatchObject({
    status: 'True',
    reason: 'StorageCannotGrow',
    message: 'EtcdPeer etcd-1: Storage class standard does not let claims grow.',
  });
  expect(degraded(false)?.reason).not.toBe('StorageCannotGrow');
});

test('parts of paths with the most bytes are told first, from bounded questions', async () => {
  let questions = 0;
  const below: Record<string, readonly [string, number][]> = {
    '': [['/', 700]],
    '/': [['/registry/', 700]],
    '/registry/': [
      ['/registry/pods/', 600],
      ['/registry/\u001b[31m/', 90],
      ...Array.from({ length: 62 }, (_, index) => [`/registry/k${index}/`, 1] as [string, number]),
    ],
  };
  const keys = {
    countParts: async (prefix: string) => {
      questions += 1;
      const parts = (below[prefix] ?? []).map(([one, count]) => ({ prefix: one, keys: count }));
      return { parts, isWhole: prefix !== '/registry/' };
    },
    sampleBytes: async (prefix: string) => {
      questions += 1;
      return prefix.includes('pods') ? 2_000 : 2 ** 20;
    },
  };
  const told = await describeLargest(keys, {});
  expect(told.split('; ').slice(0, 2)).toEqual([
    '/registry/?[31m/: 90, about 90 MiB',
    '/registry/pods/: 600, about 1 MiB',
  ]);
  expect(told).toMatch(/, of the first 64 parts of paths$/);
  expect(questions).toBe(19);
});

test('an alarm for a member that etcd cannot tell is an alarm', () => {
  expect(alarmsIn(['alarm:CORRUPT ', 'memberID:8  alarm:NOSPACE '])).toEqual([
    { memberId: '0', type: 'CORRUPT' },
    { memberId: '8', type: 'NOSPACE' },
  ]);
});
