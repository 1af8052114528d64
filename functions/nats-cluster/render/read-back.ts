// What a configuration that was written before says: with which passwords and accounts servers may
// be running. Pure.
import { isRecord, textOf } from '../../../shared/kube/json.ts';
import { DEFAULT_ACCOUNT, DEFAULT_USER, SYSTEM_ACCOUNT } from './config.ts';

export interface KnownPasswords {
  readonly system: string;
  /** Undefined of a single server, which has no routes. */
  readonly route: string | undefined;
  /** Undefined where the spec names accounts. */
  readonly user: string | undefined;
}

/** Undefined when it was not written by us. */
export function passwordsIn(text: string): KnownPasswords | undefined {
  const accounts = valueOf(text, 'accounts');
  const system = passwordOf(userIn(accounts, SYSTEM_ACCOUNT));
  if (system === '') return undefined;
  const cluster = valueOf(text, 'cluster');
  const route = passwordOf(isRecord(cluster) ? cluster['authorization'] : undefined);
  const first = userIn(accounts, DEFAULT_ACCOUNT);
  const isOurs = isRecord(first) && first['user'] === DEFAULT_USER;
  const user = isOurs ? passwordOf(first) : '';
  return {
    system,
    route: route === '' ? undefined : route,
    user: user === '' ? undefined : user,
  };
}

/** Those that may have streams. */
export function accountsIn(text: string): readonly string[] {
  const accounts = valueOf(text, 'accounts');
  const all = isRecord(accounts) ? Object.entries(accounts) : [];
  return all.flatMap(([name, account]) =>
    isRecord(account) && account['jetstream'] === 'enabled' ? [name] : [],
  );
}

function userIn(accounts: unknown, name: string): unknown {
  const account = isRecord(accounts) ? accounts[name] : undefined;
  const users: unknown = isRecord(account) ? account['users'] : undefined;
  return Array.isArray(users) ? users[0] : undefined;
}

const passwordOf = (login: unknown): string => (isRecord(login) ? textOf(login['password']) : '');

/** Each stands in a line of its own, as JSON but for the odd characters. */
function valueOf(text: string, key: string): unknown {
  const line = text.split('\n').find((one) => one.startsWith(`${key}: `));
  if (line === undefined) return undefined;
  const json = line
    .slice(key.length + 2)
    .replaceAll(/\\(?:x([0-9a-f]{2})|.)/g, (escape, hex?: string) =>
      hex === undefined ? escape : String.raw`\u00${hex}`,
    );
  try {
    return JSON.parse(json);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
