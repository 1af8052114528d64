// Exports, imports and permissions for feeds: an account that holds a feed exports it to accounts
// whose users read it. The rights themselves stand in shared/nats/rights.ts alone. Pure.
import type { Account, FeedReading, User } from '../../../shared/api/nats-cluster.ts';
import { readerPermissions, writerPermissions } from '../../../shared/nats/accounts.ts';
import type { Scope } from '../../../shared/nats/replica/scope.ts';
import { type Permissions, exportsOf, importsOf } from '../../../shared/nats/rights.ts';

/** Undefined for a user who has nothing to do with feeds. */
export function feedPermissions({ name, reads, writes }: User): Permissions | undefined {
  if (reads !== undefined) return readerPermissions([reads.feed], scopeOf(reads), name);
  return writes === undefined ? undefined : writerPermissions(writes, name);
}

/** Its exports and imports, as nats-server's configuration says them. */
export function feedsOf(account: Account, accounts: readonly Account[]) {
  const exports = (account.feeds ?? []).flatMap((feed) => {
    const readers = accounts.filter((one) => readBy(one).has(feed)).map(({ name }) => name);
    return readers.length === 0 ? [] : exportsOf(feed, readers);
  });
  const imports = [...readBy(account)].flatMap((feed) => {
    const holder = accounts.find(({ feeds = [] }) => feeds.includes(feed));
    return holder === undefined ? [] : importsOf(feed, holder.name);
  });
  return {
    ...(exports.length === 0 ? {} : { exports }),
    ...(imports.length === 0 ? {} : { imports }),
  };
}

const readBy = ({ users }: Account): ReadonlySet<string> =>
  new Set(users.flatMap(({ reads }) => reads?.feed ?? []));

function scopeOf({ scope, node = '', namespaces = [] }: FeedReading): Scope {
  if (scope === 'Cluster') return 'cluster';
  return scope === 'Node' ? { node } : { namespaces };
}
