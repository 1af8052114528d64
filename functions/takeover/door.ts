// The door to the members and servers of the old and of the new cluster: one short conversation at
// a time.
import { type EtcdAdmin, type EtcdMemberAdmin, openEtcdAdmin } from '../../shared/etcd/admin.ts';
import type { EtcdAlarm } from '../../shared/etcd/admin/alarms.ts';
import type { CallOptions } from '../../shared/etcd/admin/caller.ts';
import type { HeadsOf, KeyHead } from '../../shared/etcd/admin/keys.ts';
import type { EtcdHashKv } from '../../shared/etcd/admin/upkeep.ts';
import { askLegacy } from '../../shared/etcd/legacy.ts';
import { askAccounts, askMonitor, askRoutes } from '../../shared/nats/monitor.ts';
import type { Access } from './access.ts';

export interface Door {
  readonly ask: typeof askLegacy;
  readonly monitor: typeof askMonitor;
  readonly routes: typeof askRoutes;
  readonly accounts: typeof askAccounts;
  /** As the member knows them once it has applied all that came before. */
  readonly alarms: (member: Access, options: CallOptions) => Promise<readonly EtcdAlarm[]>;
  readonly raise: (member: Access, memberId: string, options: CallOptions) => Promise<void>;
  readonly disarm: (member: Access, memberId: string, options: CallOptions) => Promise<void>;
  /** A member that votes. */
  readonly add: (members: Access, peerUrl: string, options: CallOptions) => Promise<void>;
  readonly remove: (members: Access, memberId: string, options: CallOptions) => Promise<void>;
  /** To be asked of the leader. */
  readonly moveLeader: (leader: Access, memberId: string, options: CallOptions) => Promise<void>;
  readonly hashKv: (member: Access, revision: string, options: CallOptions) => Promise<EtcdHashKv>;
  readonly heads: (
    members: Access,
    of: HeadsOf,
    options: CallOptions,
  ) => Promise<readonly KeyHead[]>;
}

export const DOOR: Door = {
  ask: askLegacy,
  monitor: askMonitor,
  routes: askRoutes,
  accounts: askAccounts,
  alarms: (member, options) => talk(member, (etcd) => etcd.alarms.list(options)),
  raise: async (member, memberId, options) => {
    await talk(member, (etcd) => etcd.alarms.raise({ memberId, type: 'CORRUPT' }, options));
  },
  disarm: async (member, memberId, options) => {
    await talk(member, (etcd) => etcd.alarms.disarm({ memberId, type: 'CORRUPT' }, options));
  },
  add: async (members, peerUrl, options) => {
    await talk(members, (etcd) => etcd.members.add([peerUrl], options));
  },
  remove: async (members, memberId, options) => {
    await talk(members, (etcd) => etcd.members.remove(memberId, options));
  },
  moveLeader: (leader, memberId, options) =>
    talkToOne(leader, (etcd) => etcd.moveLeader(memberId, options)),
  hashKv: (member, revision, options) =>
    talkToOne(member, (etcd) => etcd.hashKv(revision, options)),
  heads: (members, of, options) => talk(members, (etcd) => etcd.keys.heads(of, options)),
};

/** One member and no other is asked. */
function talkToOne<Told>(
  access: Access,
  say: (etcd: EtcdMemberAdmin) => Promise<Told>,
): Promise<Told> {
  const [endpoint] = access.endpoints;
  if (endpoint === undefined) throw new Error('asked nobody');
  return talk(access, (etcd) => say(etcd.at(endpoint)));
}

async function talk<Told>(access: Access, say: (etcd: EtcdAdmin) => Promise<Told>): Promise<Told> {
  const etcd = openEtcdAdmin(access);
  try {
    return await say(etcd);
  } finally {
    await etcd.close();
  }
}
