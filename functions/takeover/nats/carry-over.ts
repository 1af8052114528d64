// The NatsCluster that a takeover would make: what the servers of the old one were told, and over
// it what the Takeover says. Passwords stand in a Secret beside it. Pure.
import type { TakeoverSpec } from '../../../shared/api/takeover.ts';
import { over } from '../carry-over.ts';
import type { Fields } from '../legacy/said.ts';
import type { LegacyConfig, LegacyRights, LegacyUser } from './config.ts';
import type { LegacyNats } from './legacy.ts';

type Into = TakeoverSpec['into'];

/** A single server has no routes. */
const REPLICAS = 3;
const REPLICAS_MAX = 9;

/** The Secret with the passwords of the users, by their names. */
export const usersSecretOf = ({ name }: Pick<Into, 'name'>): string => `${name}-users`;

export function natsCarriedOver(
  { resources, size = REPLICAS }: Pick<LegacyNats, 'resources' | 'size'>,
  config: LegacyConfig | undefined,
  into: Into,
): Fields {
  const said = {
    replicas: Math.max(REPLICAS, Math.min(size % 2 === 1 ? size : size + 1, REPLICAS_MAX)),
    ...resources,
    ...(config?.hasTls === true ? { tls: { clients: {} } } : {}),
    ...(config?.clusterName === undefined ? {} : { clusterName: config.clusterName }),
    ...accountsOf(config, into),
  };
  return over(said, into.spec ?? {});
}

/** Accounts keep their names, since no message passes between an account and another one. */
function accountsOf(config: LegacyConfig | undefined, into: Into): Fields {
  const { accounts = [] } = config ?? {};
  if (accounts.length === 0) return {};
  const secret = usersSecretOf(into);
  const told = accounts.map(({ name, users }) => ({
    name,
    users: users.map((user) => userOf(user, secret)),
  }));
  return { accounts: told };
}

function userOf(
  { name, publish, subscribe, allowResponses = false }: LegacyUser,
  secret: string,
): Fields {
  const passwordSecret = { name: secret, key: name };
  if (publish === undefined && subscribe === undefined && !allowResponses) {
    return { name, passwordSecret };
  }
  const sides = { ...sideOf('publish', publish), ...sideOf('subscribe', subscribe) };
  const permissions = { ...sides, ...(allowResponses ? { allowResponses } : {}) };
  return { name, passwordSecret, permissions };
}

const sideOf = (side: string, rights: LegacyRights | undefined): Fields =>
  rights === undefined ? {} : { [side]: rights };
