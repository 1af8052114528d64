// While a cluster has no quorum, nobody confirms who its members are: they are not asked for it at
// each look, because that would take seconds of each step of a recovery.
import { expect, test } from 'vitest';
import { askMembers } from '../../../functions/etcd-cluster/ask-members.ts';
import type { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { state } from './samples.ts';

const { signal } = new AbortController();
const LOST = { quorumLostSince: '2026-11-25T10:00:00Z' } as const;
const TLS = { clients: { mode: 'None' }, peers: { mode: 'None' } } as const;

/** Members that tell this leader; without one the list is waited for in vain. */
function openTold(leaderId: string | undefined): typeof openEtcdAdmin {
  const header = { memberId: '1', clusterId: 'c', revision: '7', raftTerm: 1 };
  const status = { header, version: '3.6.16', leaderId, isLearner: false, alarms: [] };
  const members = {
    list: async ({ isLinearizable }: { readonly isLinearizable: boolean }) => {
      if (isLinearizable && leaderId === undefined) return new Promise(() => undefined);
      return { header, members: [] };
    },
  };
  const one = { status: async () => status, members, clusterVersion: async () => '3.6.0' };
  const open = () => ({ members, at: () => one, close: async () => undefined });
  return open as unknown as typeof openEtcdAdmin;
}

async function listTold(leaderId: string | undefined): Promise<unknown> {
  const one = state({ spec: { tls: TLS }, status: LOST });
  const deps = { openAdmin: openTold(leaderId), memory: {} };
  const { auth: _, ...parts } = one.parts;
  return (await askMembers(deps, one, parts, signal)).list;
}

test('a lost quorum is not waited for while no member has a leader', async () => {
  expect(await listTold(undefined)).toBeUndefined();
});

test('it is asked again once a member has one', async () => {
  expect(await listTold('1')).toEqual({ clusterId: 'c', members: [] });
});
