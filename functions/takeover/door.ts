// The door to the members and servers of the old and of the new cluster: one short conversation at
// a time.
import { type EtcdAdmin, openEtcdAdmin } from '../../shared/etcd/admin.ts';
import type { EtcdAlarm } from '../../shared/etcd/admin/alarms.ts';
import type { CallOptions } from '../../shared/etcd/admin/caller.ts';
import type { HeadsOf, KeyHead } from '../../shared/etcd/admin/keys.ts';
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
  heads: (members, of, options) => talk(members, (etcd) => etcd.keys.heads(of, options)),
};

async function talk<Told>(access: Access, say: (etcd: EtcdAdmin) => Promise<Told>): Promise<Told> {
  const etcd = openEtcdAdmin(access);
  try {
    return await say(etcd);
  } finally {
    await etcd.close();
  }
}
