// What a configuration that was written before says: with which passwords servers may be running.
// Pure.
import { isRecord, textOf } from '../../../shared/kube/json.ts';
import { SYSTEM_ACCOUNT } from './config.ts';

export interface KnownPasswords {
  readonly system: string;
  /** Undefined of a single server, which has no routes. */
  readonly route: string | undefined;
}

/** Undefined when it was not written by us. */
export function passwordsIn(text: string): KnownPasswords | undefined {
  try {
    const accounts = valueOf(text, 'accounts');
    const account = isRecord(accounts) ? accounts[SYSTEM_ACCOUNT] : undefined;
    const users: unknown = isRecord(account) ? account['users'] : undefined;
    const system = passwordOf(Array.isArray(users) ? users[0] : undefined);
    if (system === '') return undefined;
    const cluster = valueOf(text, 'cluster');
    const route = passwordOf(isRecord(cluster) ? cluster['authorization'] : undefined);
    return { system, route: route === '' ? undefined : route };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
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
  return JSON.parse(json);
}
