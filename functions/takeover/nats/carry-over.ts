// The NatsCluster that a takeover would make: what the servers of the old one were told, and over
// it what the Takeover says. Passwords stand in a Secret beside it. Pure.
import { GLOBAL_ACCOUNT } from '../../../shared/api/nats-cluster.ts';
import type { TakeoverSpec } from '../../../shared/api/takeover.ts';
import { over } from '../carry-over.ts';
import { fieldOf } from '../legacy.ts';
import { resourcesOf } from '../legacy/said.ts';
import type { LegacyConfig, LegacyRights, LegacyUser } from './config.ts';
import type { LegacyNats } from './legacy.ts';

type Fields = Readonly<Record<string, unknown>>;
type Into = TakeoverSpec['into'];

/** A single server has no routes. */
const REPLICAS = 3;
const REPLICAS_MAX = 9;

/** The Secret with the passwords of the users, by their names. */
export const usersSecretOf = ({ name }: Pick<Into, 'name'>): string => `${name}-users`;

export function natsCarriedOver(
  { spec, size = REPLICAS }: Pick<LegacyNats, 'spec' | 'size'>,
  config: LegacyConfig | undefined,
  into: Into,
): Fields {
  const said = {
    replicas: Math.max(REPLICAS, Math.min(size % 2 === 1 ? size : size + 1, REPLICAS_MAX)),
    ...resourcesOf(fieldOf(fieldOf(spec, 'pod'), 'resources')),
    ...(config?.hasTls === true ? { tls: { clients: {} } } : {}),
    ...accountsOf(config, into),
  };
  return over(said, into.spec ?? {});
}

/** The one that old servers know alone: no message passes between it and another one. */
function accountsOf(config: LegacyConfig | undefined, into: Into): Fields {
  const { users = [] } = config ?? {};
  if (users.length === 0) return {};
  const name = usersSecretOf(into);
  return { accounts: [{ name: GLOBAL_ACCOUNT, users: users.map((user) => userOf(user, name)) }] };
}

function userOf({ name, publish, subscribe }: LegacyUser, secret: string): Fields {
  const passwordSecret = { name: secret, key: name };
  if (publish === undefined && subscribe === undefined) return { name, passwordSecret };
  const permissions = { ...sideOf('publish', publish), ...sideOf('subscribe', subscribe) };
  return { name, passwordSecret, permissions };
}

const sideOf = (side: string, rights: LegacyRights | undefined): Fields =>
  rights === undefined ? {} : { [side]: rights };
