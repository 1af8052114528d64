// The state of a takeover of a NatsCluster: all that a look has found, and nothing that follows.
import type { NatsClusterSpec } from '../../../shared/api/nats-cluster.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import type { Monitored } from '../../../shared/nats/monitor.ts';
import type { FoundMade, FoundSecret, FoundService, Seen, TargetOf } from '../state.ts';
import type { LegacyConfig } from './config.ts';
import type { LegacyNats } from './legacy.ts';

export interface FoundServer {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly ip: string | undefined;
  readonly isRunning: boolean;
  readonly isEnding: boolean;
  /** Clients reach it by the address of its node. */
  readonly hasHostPort: boolean;
}

/** The configuration of the servers, as far as it may be read. */
export type FoundConfig =
  | {
      readonly is: 'found';
      readonly resourceVersion: string;
      readonly config: LegacyConfig;
      /** By pods: what a server says once it has loaded this with passwords of now. */
      readonly digests?: ReadonlyMap<string, string>;
      /** Secrets by which variables in it are known. */
      readonly secrets?: readonly string[];
      /** Those of them that may not be read, and keys of others that are not there. */
      readonly unread?: readonly { readonly name: string; readonly key?: string }[];
    }
  | { readonly is: 'missing' }
  | { readonly is: 'forbidden' }
  /** `why`: a part of a sentence. */
  | { readonly is: 'odd'; readonly why: string };

/** A Secret, and to whom it belongs. */
export interface FoundUsers {
  readonly is: FoundSecret['is'];
  readonly owners: readonly string[];
}

/** The word of a server, or why there is none. */
export type AskedServer = Monitored | { readonly silent: string };

/** The NatsCluster that was made. */
export interface FoundNatsCluster extends FoundMade {
  /** For its spec as it is. */
  readonly isReady: boolean;
  readonly says: string;
  readonly extraRoutes: readonly string[];
  readonly replicas: number;
}

/** A new server: its id, and how many clients it has. */
export type AskedNew =
  | { readonly id: string; readonly clients: number }
  | { readonly silent: string };

/** Looked for while a plan is carried out or taken back. */
export interface NatsWork {
  readonly cluster: FoundNatsCluster | undefined;
  /** By pods of old servers that answered: the ids of servers to which they have routes. */
  readonly routes: ReadonlyMap<string, readonly string[]>;
  /** By pods of new servers. */
  readonly fresh: ReadonlyMap<string, AskedNew>;
}

export interface NatsState extends Seen {
  /** Nothing below is looked for without it. */
  readonly legacy: LegacyNats | undefined;
  readonly pods: readonly FoundServer[];
  readonly client: FoundService | undefined;
  /** By it servers are routed. */
  readonly routes: FoundService | undefined;
  readonly config: FoundConfig;
  /** By pods; undefined where nobody was asked. */
  readonly servers: ReadonlyMap<string, AskedServer> | undefined;
  readonly target: TargetOf<NatsClusterSpec>;
  /** The Secret with the passwords of users, as the new NatsCluster names it. */
  readonly users: FoundUsers;
  readonly work: NatsWork | undefined;
  /** Why the API server would let no old server leave, where it was asked. */
  readonly leaveRefused: Reason | undefined;
}

export const configOf = ({ config }: Pick<NatsState, 'config'>): LegacyConfig | undefined =>
  config.is === 'found' ? config.config : undefined;

const hasAnswered = (asked: AskedServer): asked is Monitored => 'version' in asked;

export const answersOf = ({ servers }: Pick<NatsState, 'servers'>) =>
  [...(servers ?? [])].flatMap(([pod, asked]) =>
    hasAnswered(asked) ? [{ pod, answer: asked }] : [],
  );

/** Each of them for a sentence, with why it does not answer. */
export const saidBy = ({ servers }: Pick<NatsState, 'servers'>): readonly string[] =>
  [...(servers ?? [])].map(([pod, asked]) =>
    hasAnswered(asked) ? pod : `${pod}: ${asked.silent}`,
  );

export const silentOf = ({ servers }: Pick<NatsState, 'servers'>): readonly string[] =>
  [...(servers ?? [])].flatMap(([pod, asked]) => (hasAnswered(asked) ? [] : [pod]));
