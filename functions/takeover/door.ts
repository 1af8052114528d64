// The door to the members of the old and of the new cluster: one short conversation at a time.
// Plans are carried out for members without TLS alone.
import { CLIENT_PORT } from '../../shared/api/etcd-names.ts';
import { type EtcdAdmin, openEtcdAdmin } from '../../shared/etcd/admin.ts';
import type { EtcdAlarm } from '../../shared/etcd/admin/alarms.ts';
import type { CallOptions } from '../../shared/etcd/admin/caller.ts';
import type { HeadsOf, KeyHead } from '../../shared/etcd/admin/keys.ts';
import { askLegacy } from '../../shared/etcd/legacy.ts';

export interface Door {
  readonly ask: typeof askLegacy;
  /** As the member knows them once it has applied all that came before. */
  readonly alarms: (url: string, options: CallOptions) => Promise<readonly EtcdAlarm[]>;
  readonly raise: (url: string, memberId: string, options: CallOptions) => Promise<void>;
  readonly disarm: (url: string, memberId: string, options: CallOptions) => Promise<void>;
  readonly heads: (
    urls: readonly string[],
    of: HeadsOf,
    options: CallOptions,
  ) => Promise<readonly KeyHead[]>;
}

/** Without TLS. */
export const urlAt = (ip: string): string =>
  `http://${ip.includes(':') ? `[${ip}]` : ip}:${CLIENT_PORT}`;

export const DOOR: Door = {
  ask: askLegacy,
  alarms: (url, options) => talk([url], (etcd) => etcd.alarms.list(options)),
  raise: async (url, memberId, options) => {
    await talk([url], (etcd) => etcd.alarms.raise({ memberId, type: 'CORRUPT' }, options));
  },
  disarm: async (url, memberId, options) => {
    await talk([url], (etcd) => etcd.alarms.disarm({ memberId, type: 'CORRUPT' }, options));
  },
  heads: (urls, of, options) => talk(urls, (etcd) => etcd.keys.heads(of, options)),
};

async function talk<Told>(
  endpoints: readonly string[],
  say: (etcd: EtcdAdmin) => Promise<Told>,
): Promise<Told> {
  const etcd = openEtcdAdmin({ endpoints });
  try {
    return await say(etcd);
  } finally {
    await etcd.close();
  }
}
