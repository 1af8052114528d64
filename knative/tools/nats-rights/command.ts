// The accounts of a NATS that is not ours, for one feed and those who read it, as nats-server's
// configuration. Pure.
import { readArguments, UsageError } from '../../../shared/arguments.ts';
import { feedAccounts, type Login, type Reader } from '../../../shared/nats/accounts.ts';
import { configText } from '../../../shared/nats/config-text.ts';
import type { Scope } from '../../../shared/nats/replica/scope.ts';

export const usageOf = (calledAs: string): string => `\
usage: ${calledAs} FEED [READER...]

Prints, for the configuration of a nats-server, the account that holds the stream of FEED with the
user of the function, and the account of those who read it. Passwords are variables of the server's
environment, named after the user: METADATA_PASSWORD, or USER_10_0_0_1_PASSWORD.

READER is any number of
  --cluster USER             reads everything, as locate does
  --node USER=NODE           reads what the agent of this node needs; --node NODE is short for it
  --namespaces USER=A,B      reads these namespaces, and what belongs to none
and
  --writer USER              the user of the function (metadata)
  -h, --help                 this text
`;

export const USAGE = usageOf('npm run -s nats-rights --');

const FEED_NAME = /^[A-Za-z0-9_-]{1,63}$/;
const USER_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

export function answer(args: readonly string[], usage = USAGE): string {
  const options = {
    cluster: { type: 'string', multiple: true },
    node: { type: 'string', multiple: true },
    namespaces: { type: 'string', multiple: true },
    writer: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  const { values, positionals } = readArguments(args, options);
  if (values.help === true) return usage;
  const [feed, ...more] = positionals;
  if (feed === undefined) throw new UsageError('which feed is it about?');
  if (more.length > 0) throw new UsageError(`one feed at a time, not also ${more.join(' ')}`);
  if (!FEED_NAME.test(feed)) throw new UsageError(`${feed} is no name of a feed`);
  const readers = [
    ...(values.cluster ?? []).map((user) => reader(feed, user, 'cluster')),
    ...(values.node ?? []).map((text) => ofNode(feed, text)),
    ...(values.namespaces ?? []).map((text) => ofNamespaces(feed, text)),
  ];
  const writer = login(values.writer ?? 'metadata');
  refuseTwice([writer, ...readers]);
  return configText({ accounts: feedAccounts({ feeds: [feed], writer, readers }) });
}

function refuseTwice(logins: readonly Login[]): void {
  const known = new Map<string, string>();
  for (const { name, password } of logins) {
    const other = known.get(password);
    if (other === name) throw new UsageError(`two users are called ${name}`);
    if (other !== undefined) {
      throw new UsageError(`${other} and ${name} would have the same password`);
    }
    known.set(password, name);
  }
}

function ofNode(feed: string, text: string): Reader {
  const [user = '', node = user] = text.split('=');
  if (node === '') throw new UsageError('--node wants USER=NODE, or NODE');
  return reader(feed, user, { node });
}

function ofNamespaces(feed: string, text: string): Reader {
  const [user = '', list = ''] = text.split('=');
  const namespaces = list.split(',').filter((one) => one !== '');
  if (namespaces.length === 0) throw new UsageError('--namespaces wants USER=A,B');
  return reader(feed, user, { namespaces });
}

const reader = (feed: string, user: string, scope: Scope): Reader => ({
  ...login(user),
  feeds: [feed],
  scope,
});

function login(name: string): Login {
  if (!USER_NAME.test(name)) throw new UsageError(`"${name}" is no name of a user`);
  const word = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  // A variable begins with a letter; what else stands there would be the password itself.
  return { name, password: `$${/^[A-Z]/.test(word) ? word : `USER_${word}`}_PASSWORD` };
}
