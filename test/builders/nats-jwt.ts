// NATS in operator mode, as far as a test needs it: an operator, an account with JetStream and
// users of it, each a JWT that the one above signed.
import { randomUUID } from 'node:crypto';
import { nkeys } from 'nats';

type Keys = ReturnType<typeof nkeys.createUser>;

const base64url = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString('base64url');

function signed(issuer: Keys, sub: string, name: string, nats: object): string {
  const head = base64url(JSON.stringify({ typ: 'JWT', alg: 'ed25519-nkey' }));
  const iat = Math.floor(Date.now() / 1_000);
  const claims = { jti: randomUUID(), iat, iss: issuer.getPublicKey(), name, sub, nats };
  const body = `${head}.${base64url(JSON.stringify(claims))}`;
  return `${body}.${base64url(issuer.sign(Buffer.from(body)))}`;
}

const ANY = { subs: -1, data: -1, payload: -1 };
const LIMITS = { ...ANY, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const JETSTREAM = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

export interface Operator {
  /** The configuration of a server. */
  readonly config: object;
  /** The text of a `.creds` file. */
  creds(name: string, rights: { publish: readonly string[]; subscribe: readonly string[] }): string;
}

export function makeOperator(): Operator {
  const [operator, system, account] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
  ];
  const accountJwt = (keys: Keys, name: string, limits: object): string =>
    signed(operator, keys.getPublicKey(), name, { type: 'account', version: 2, limits });
  const preload = {
    [system.getPublicKey()]: accountJwt(system, 'SYS', LIMITS),
    [account.getPublicKey()]: accountJwt(account, 'FEEDS', { ...LIMITS, ...JETSTREAM }),
  };
  const ofOperator = { type: 'operator', version: 2, system_account: system.getPublicKey() };
  return {
    config: {
      operator: signed(operator, operator.getPublicKey(), 'operator', ofOperator),
      resolver: 'MEMORY',
      resolver_preload: preload,
    },
    creds(name, { publish, subscribe }) {
      const user = nkeys.createUser();
      const rights = { pub: { allow: publish }, sub: { allow: subscribe }, ...ANY };
      const jwt = signed(account, user.getPublicKey(), name, {
        type: 'user',
        version: 2,
        ...rights,
      });
      return credsFile(jwt, Buffer.from(user.getSeed()).toString());
    },
  };
}

export const credsFile = (jwt: string, seed: string): string =>
  [
    '-----BEGIN NATS USER JWT-----',
    jwt,
    '------END NATS USER JWT------',
    '',
    '-----BEGIN USER NKEY SEED-----',
    seed,
    '------END USER NKEY SEED------',
    '',
  ].join('\n');
