// Reads back a configuration that was written before: the passwords and accounts with which servers
// may be running. Pure.
import { GLOBAL_ACCOUNT } from '../../../shared/api/nats-cluster.ts';
import { isRecord, textOf } from '../../../shared/kube/json.ts';
import { SYSTEM_ACCOUNT } from './config.ts';

export interface KnownPasswords {
  readonly system: string;
  /** Undefined for a single server, which has no routes. */
  readonly route: string | undefined;
  /** By the name of the user. */
  readonly users: ReadonlyMap<string, string>;
}

/** Undefined when somebody else wrote the configuration. */
export function passwordsIn(text: string): KnownPasswords | undefined {
  const accounts = valueOf(text, 'accounts');
  if (!isRecord(accounts)) return undefined;
  const { [SYSTEM_ACCOUNT]: own, ...others } = accounts;
  const [system = ''] = loginsOf(own).values();
  if (system === '') return undefined;
  const cluster = valueOf(text, 'cluster');
  const route = passwordOf(isRecord(cluster) ? cluster['authorization'] : undefined);
  const all = [...Object.values(others), valueOf(text, 'authorization')];
  const logins = all.flatMap((account) => [...loginsOf(account)]);
  return { system, route: route === '' ? undefined : route, users: new Map(logins) };
}

/** Whether clients have to speak TLS; undefined when somebody else wrote the configuration. */
export const saysTlsIn = (text: string): boolean | undefined =>
  isRecord(valueOf(text, 'accounts')) ? isRecord(valueOf(text, 'tls')) : undefined;

/** Accounts that may have streams; undefined when somebody else wrote the configuration. */
export function accountsIn(text: string): readonly string[] | undefined {
  const accounts = valueOf(text, 'accounts');
  if (!isRecord(accounts)) return undefined;
  const named = Object.entries(accounts).flatMap(([name, account]) =>
    isRecord(account) && account['jetstream'] === 'enabled' ? [name] : [],
  );
  // The global account has JetStream by itself, where no other one is named.
  return isRecord(valueOf(text, 'authorization')) ? [...named, GLOBAL_ACCOUNT] : named;
}

/** Passwords by the names of users. */
function loginsOf(account: unknown): ReadonlyMap<string, string> {
  const users: unknown = isRecord(account) ? account['users'] : undefined;
  const logins = (Array.isArray(users) ? users : []).flatMap((login: unknown) => {
    const [name, password] = [isRecord(login) ? textOf(login['user']) : '', passwordOf(login)];
    return name === '' || password === '' ? [] : [[name, password] as const];
  });
  return new Map(logins);
}

const passwordOf = (login: unknown): string => (isRecord(login) ? textOf(login['password']) : '');

/** Every key is a line of its own, in JSON with NATS' escapes. */
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
