// The state of a takeover of a NatsCluster: all that a look has found, and nothing that follows.
import type { NatsClusterSpec } from '../../../shared/api/nats-cluster.ts';
import type { Monitored } from '../../../shared/nats/monitor.ts';
import type { FoundService, Seen, TargetOf } from '../state.ts';
import type { LegacyConfig } from './config.ts';
import type { LegacyNats } from './legacy.ts';

export interface FoundServer {
  readonly name: string;
  readonly ip: string | undefined;
  readonly isRunning: boolean;
  /** Clients reach it by the address of its node. */
  readonly hasHostPort: boolean;
}

/** The configuration of the servers, as far as it may be read. */
export type FoundConfig =
  | { readonly is: 'found'; readonly config: LegacyConfig }
  | { readonly is: 'missing' }
  | { readonly is: 'forbidden' }
  | { readonly is: 'odd' };

/** The word of a server, or why there is none. */
export type AskedServer = Monitored | { readonly silent: string };

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
}

export const configOf = ({ config }: Pick<NatsState, 'config'>): LegacyConfig | undefined =>
  config.is === 'found' ? config.config : undefined;

const hasAnswered = (asked: AskedServer): asked is Monitored => 'version' in asked;

export const answersOf = ({ servers }: Pick<NatsState, 'servers'>) =>
  [...(servers ?? [])].flatMap(([pod, asked]) =>
    hasAnswered(asked) ? [{ pod, answer: asked }] : [],
  );

export const silentOf = ({ servers }: Pick<NatsState, 'servers'>): readonly string[] =>
  [...(servers ?? [])].flatMap(([pod, asked]) => (hasAnswered(asked) ? [] : [pod]));
