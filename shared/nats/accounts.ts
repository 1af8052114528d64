// The accounts of a NATS that holds feeds, as nats-server's configuration says them. Pure.
import type { Scope } from './replica/scope.ts';
import {
  type Permissions,
  exportsOf,
  importsOf,
  inboxOf,
  readerRights,
  writerRights,
} from './rights.ts';

export interface Login {
  readonly name: string;
  readonly password: string;
}

export interface Reader extends Login {
  readonly feeds: readonly string[];
  readonly scope: Scope;
}

export interface FeedAccountsOptions {
  readonly feeds: readonly string[];
  readonly writer: Login;
  readonly readers: readonly Reader[];
  /** May do anything in the account of the streams. */
  readonly admin?: Login;
}

/** Holds the streams. */
const FEEDS_ACCOUNT = 'FEEDS';
/** Imports what reading needs. */
const READERS_ACCOUNT = 'READERS';

export function feedAccounts({ feeds, writer, readers, admin }: FeedAccountsOptions) {
  return {
    [FEEDS_ACCOUNT]: {
      jetstream: 'enabled',
      users: [
        ...(admin === undefined ? [] : [userOf(admin)]),
        { ...userOf(writer), permissions: writerPermissions(feeds, writer.name) },
      ],
      exports: feeds.flatMap((feed) => exportsOf(feed, [READERS_ACCOUNT])),
    },
    [READERS_ACCOUNT]: {
      users: readers.map((reader) => ({
        ...userOf(reader),
        permissions: readerPermissions(reader.feeds, reader.scope, reader.name),
      })),
      imports: feeds.flatMap((feed) => importsOf(feed, FEEDS_ACCOUNT)),
    },
  };
}

export const writerPermissions = (feeds: readonly string[], user: string): Permissions =>
  joined(feeds.map((feed) => writerRights(feed, inboxOf(user))));

export const readerPermissions = (
  feeds: readonly string[],
  scope: Scope,
  user: string,
): Permissions => joined(feeds.map((feed) => readerRights(feed, scope, inboxOf(user))));

const userOf = ({ name: user, password }: Login) => ({ user, password });

function joined(rights: readonly Permissions[]): Permissions {
  const all = (which: keyof Permissions): readonly string[] => [
    ...new Set(rights.flatMap((one) => one[which])),
  ];
  return { publish: all('publish'), subscribe: all('subscribe') };
}
