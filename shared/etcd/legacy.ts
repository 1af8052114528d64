// Asks a member of an etcd that may be as old as 3.0 what it is and who it knows. Its gateway has
// another path in each generation, and its `/health` writes into the log of the cluster at each
// call, so it is never asked for that. Changes nothing.
import { type Call, type CallOptions, Caller, Session } from './admin/caller.ts';
import { isEtcdFailure } from './admin/failure.ts';
import { fieldsIn, headerIn, Odd, textIn } from './admin/fields.ts';
import { type EtcdEndpoint, Gateway } from './admin/gateway.ts';
import { type EtcdMember, LISTED } from './admin/members.ts';
import { rootOf } from './admin/root.ts';
import { type EtcdStatus, STATUS } from './admin/status.ts';
import type { EtcdTls } from './tls.ts';

export interface LegacyAnswer {
  readonly status: EtcdStatus;
  /** As this member knows them. */
  readonly members: readonly EtcdMember[];
  /** Whether a quorum has confirmed a read. */
  readonly isQuorate: boolean;
  /** It asks for logins. */
  readonly hasAuth: boolean;
  /**
   * Keys of the API before version 3 are in a store of their own, and in no snapshot. Undefined
   * where it did not tell, which is no reason to take it for silent.
   */
  readonly hasV2Keys: boolean | undefined;
}

/** Fails when the member does not answer, or is none. */
export async function askLegacy(
  endpoint: EtcdEndpoint,
  tls: EtcdTls | undefined,
  options: CallOptions,
): Promise<LegacyAnswer> {
  const gateway = new Gateway(tls);
  const caller = new Caller([endpoint], gateway, new Session(undefined));
  try {
    const root = rootOf(await caller.ask(VERSION, options));
    const at = (path: string): string => `${root}${path}`;
    const [status, members, reads, hasV2Keys] = await Promise.all([
      caller.ask({ ...STATUS, path: at('/maintenance/status') }, options),
      list(caller, at('/cluster/member/list'), options),
      read(caller, at('/kv/range'), options),
      findV2Keys(caller, options),
    ]);
    return { status, members, ...reads, hasV2Keys };
  } finally {
    await gateway.close();
  }
}

const VERSION: Call<string> = {
  path: '/version',
  body: null,
  read: (answer) => {
    const version = textIn(answer, 'etcdserver');
    if (!/^\d+\.\d+\.\d+/.test(version)) throw new Odd('etcdserver');
    return version;
  },
};

/** None where they are told to logins alone. */
async function list(
  caller: Caller,
  path: string,
  options: CallOptions,
): Promise<readonly EtcdMember[]> {
  try {
    return (await caller.ask({ path, body: {}, read: LISTED }, options)).members;
  } catch (error) {
    if (asksLogin(error)) return [];
    throw error;
  }
}

const asksLogin = (error: unknown): boolean =>
  isEtcdFailure(error, 'NO_LOGIN', 'PERMISSION_DENIED');

/** A key that nobody has: the answer alone says that a quorum stands. */
const PROBE = { key: Buffer.of(0).toString('base64'), limit: '1', count_only: true };

async function read(
  caller: Caller,
  path: string,
  options: CallOptions,
): Promise<Pick<LegacyAnswer, 'isQuorate' | 'hasAuth'>> {
  try {
    await caller.ask({ path, body: PROBE, read: headerIn }, options);
    return { isQuorate: true, hasAuth: false };
  } catch (error) {
    if (asksLogin(error)) return { isQuorate: false, hasAuth: true };
    if (isEtcdFailure(error)) return { isQuorate: false, hasAuth: false };
    throw error;
  }
}

/** The first level alone; a member reads it by itself, and writes nothing into its log for that. */
const V2_KEYS: Call<boolean> = {
  path: '/v2/keys/',
  body: null,
  read: (answer) => {
    const { nodes } = fieldsIn(answer, 'node');
    return Array.isArray(nodes) && nodes.length > 0;
  },
};

/** Where that API is not served there are none. */
async function findV2Keys(caller: Caller, options: CallOptions): Promise<boolean | undefined> {
  try {
    return await caller.ask(V2_KEYS, options);
  } catch (error) {
    if (isEtcdFailure(error, 'NO_GATEWAY')) return false;
    if (isEtcdFailure(error)) return undefined;
    throw error;
  }
}
