// Administration of an etcd cluster over the JSON gateway of its members: what its operator asks
// and changes. Opening it calls nobody; every call ends in time, with an answer that was checked or
// an EtcdFailure.
import { Alarms } from './admin/alarms.ts';
import { Auth, Users } from './admin/auth.ts';
import { type CallOptions, Caller, type EtcdLogin, Session } from './admin/caller.ts';
import { Downgrade } from './admin/downgrade.ts';
import { type EtcdEndpoint, Gateway } from './admin/gateway.ts';
import { Keys } from './admin/keys.ts';
import { Members } from './admin/members.ts';
import { Roles } from './admin/roles.ts';
import { type EtcdStatus, STATUS } from './admin/status.ts';
import {
  DEFRAGMENT,
  type EtcdHash,
  type EtcdHashKv,
  HASH,
  hashKv,
  moveLeader,
} from './admin/upkeep.ts';
import { type Blob, blobsOf } from './blobs.ts';
import { CLUSTER_VERSION } from './admin/cluster-version.ts';
import { snapshotBlobs } from './grpc/snapshot-response.ts';
import type { EtcdTls } from './tls.ts';

export interface EtcdAdminOptions {
  /** Members: a call goes to the first that answers. */
  readonly endpoints: readonly (string | EtcdEndpoint)[];
  readonly tls?: EtcdTls | undefined;
  /** Used once etcd asks for one. */
  readonly login?: EtcdLogin | undefined;
  /** A login with the token that it had: for whoever asks the same cluster again. */
  readonly session?: Session | undefined;
}

export interface EtcdMemberOptions extends Omit<EtcdAdminOptions, 'endpoints'> {
  readonly endpoint: string | EtcdEndpoint;
}

export function openEtcdAdmin(options: EtcdAdminOptions): EtcdAdmin;
/** One member: every call goes there, and tells its answer. */
export function openEtcdAdmin(options: EtcdMemberOptions): EtcdMemberAdmin;
export function openEtcdAdmin(options: EtcdAdminOptions | EtcdMemberOptions): EtcdAdmin {
  const gateway = new Gateway(options.tls);
  const { session = new Session(options.login) } = options;
  if ('endpoint' in options) {
    return new EtcdMemberAdmin(new Caller([named(options.endpoint)], gateway, session), gateway);
  }
  return new EtcdAdmin(new Caller(options.endpoints.map(named), gateway, session), gateway);
}

const named = (endpoint: string | EtcdEndpoint): EtcdEndpoint =>
  typeof endpoint === 'string' ? { url: endpoint } : endpoint;

export class EtcdAdmin {
  readonly members: Members;
  readonly alarms: Alarms;
  readonly keys: Keys;
  readonly downgrade: Downgrade;
  readonly auth: Auth;
  readonly users: Users;
  readonly roles: Roles;
  protected readonly caller: Caller;
  readonly #gateway: Gateway;

  constructor(caller: Caller, gateway: Gateway) {
    this.caller = caller;
    this.#gateway = gateway;
    this.members = new Members(caller);
    this.alarms = new Alarms(caller);
    this.keys = new Keys(caller);
    this.downgrade = new Downgrade(caller);
    this.auth = new Auth(caller);
    this.users = new Users(caller);
    this.roles = new Roles(caller);
  }

  /** The same connections and login, for one member; it need not be among the endpoints. */
  at(endpoint: string | EtcdEndpoint): EtcdMemberAdmin {
    return new EtcdMemberAdmin(this.caller.at(named(endpoint)), this.#gateway);
  }

  /** Ends the connections, those of all that came from `at` among them. */
  close(): Promise<void> {
    return this.#gateway.close();
  }
}

export class EtcdMemberAdmin extends EtcdAdmin {
  status(options?: CallOptions): Promise<EtcdStatus> {
    return this.caller.ask(STATUS, options);
  }

  /** Undefined as long as it knows none. */
  clusterVersion(options?: CallOptions): Promise<string | undefined> {
    return this.caller.ask(CLUSTER_VERSION, options);
  }

  hash(options?: CallOptions): Promise<EtcdHash> {
    return this.caller.ask(HASH, options);
  }

  /** Up to the newest revision for `0`. */
  hashKv(revision: string, options?: CallOptions): Promise<EtcdHashKv> {
    return this.caller.ask(hashKv(revision), options);
  }

  /**
   * The database of the member as it is now, piece by piece: it is whole when its hash says so.
   * With logins only root may have it. A piece is good until the next one is asked for.
   */
  async snapshot(signal: AbortSignal): Promise<AsyncIterable<Blob>> {
    const messages = await this.caller.messages('/etcdserverpb.Maintenance/Snapshot', signal);
    if (messages !== undefined) return snapshotBlobs(messages);
    const { endpoint, body } = await this.caller.stream('/v3/maintenance/snapshot', signal);
    return blobsOf(endpoint, body);
  }

  /** Neither reads nor writes are served meanwhile; a gigabyte takes seconds to minutes. */
  defragment(options: CallOptions & { readonly timeoutMs: number }): Promise<void> {
    return this.caller.ask(DEFRAGMENT, options);
  }

  /** To be asked of the leader: others refuse with NOT_LEADER. */
  moveLeader(targetId: string, options?: CallOptions): Promise<void> {
    return this.caller.ask(moveLeader(targetId), options);
  }
}
