// The configuration that the chart writes for its servers, as far as a NatsCluster can say the
// same. Passwords are no part of it. Pure.
import { GLOBAL_ACCOUNT } from '../../../../shared/api/nats-cluster.ts';
import { isRecord, textOf } from '../../../../shared/kube/json.ts';
import { fieldOf } from '../../legacy.ts';
import type { Fields } from '../../legacy/said.ts';
import { has, type LegacyAccount, type LegacyConfig, usersIn } from '../config.ts';
import { lacksOf, lacksOfLogins } from './chart-lacks.ts';
import { parsed, passwordsOf } from './chart-text.ts';

/** Lines that Helm made of keys that end in `$include`. */
const INCLUDE = /^[ \t]*include [^\n]*;[ \t]*$/m;

/** A text says why it is not understood. */
export function chartConfigIn(text: string): LegacyConfig | string {
  if (INCLUDE.test(text)) return 'including other files ($include), which are not read';
  const config = parsed(text);
  if (config === undefined) return 'not as the chart writes it: JSON';
  const routes = fieldOf(config, 'cluster');
  const login = fieldOf(config, 'authorization');
  const named = accountsIn(config);
  const { users } = usersIn(login);
  const global = users.length === 0 ? [] : [{ name: GLOBAL_ACCOUNT, users }];
  const accounts = [...global, ...named.accounts];
  const isOpen = !has(config, 'authorization') && !has(config, 'accounts');
  const names = accounts.flatMap((one) => one.users.map(({ name }) => name));
  return {
    accounts,
    ...(has(routes, 'name') ? { clusterName: textOf(routes['name']) } : {}),
    isOpen,
    hasTls: has(config, 'tls'),
    hasRouteTls: has(routes, 'tls'),
    hasRouteLogin: has(routes, 'authorization'),
    hasStreams: has(config, 'jetstream'),
    isRouted: has(config, 'cluster'),
    lacks: [
      ...lacksOf(config),
      ...lacksOfLogins('authorization', login),
      ...named.odd,
      ...(isOpen || names.length > 0 ? [] : ['a login, and no user for it']),
      ...withoutPassword(config, names),
    ],
  };
}

function withoutPassword(config: Fields, names: readonly string[]): readonly string[] {
  const passwords = passwordsOf(config);
  return names.flatMap((name) => (passwords.has(name) ? [] : [`${name} without a password`]));
}

function accountsIn(config: Fields): {
  readonly accounts: readonly LegacyAccount[];
  readonly odd: readonly string[];
} {
  const system = textOf(config['system_account']);
  const accounts: LegacyAccount[] = [];
  const odd: string[] = [];
  for (const [name, account] of Object.entries(fieldOf(config, 'accounts'))) {
    const fields = isRecord(account) ? account : {};
    const path = `accounts.${name}`;
    const { users } = usersIn(fields);
    odd.push(...lacksOfLogins(path, fields));
    if (name === system) {
      if (users.length > 0) odd.push(`users of the system account (${name})`);
    } else if (users.length > 0) {
      accounts.push({ name, users });
    }
  }
  return { accounts, odd };
}
