// The observed state of a cluster, on which the next step is decided: the object, its parts, the
// pods and claims of its servers, and their answers. Types, and small questions about them. Pure.
import type { Leaving, Replacing, Restarting } from '../../shared/api/nats-cluster.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { OwnerReference } from '../../shared/kube/objects.ts';
import type { SecretToMake } from '../../shared/stateful/certificates/secret-data.ts';
import type { Claim, Growth } from '../../shared/stateful/claims.ts';
import type { FoundPart } from '../../shared/stateful/parts.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import { type Cluster, ordinalOf, serverName, serverNames } from './cluster.ts';
import type { KnownPasswords } from './render/read-back.ts';
import type { PartKey, Rendered, RenderedPart } from './render/manifests.ts';
import type { NatsState } from './nats-state.ts';

/** Records in the status that later decisions need; an absent one is dropped. */
export interface Records {
  readonly restarting?: Restarting;
  readonly leaving?: Leaving;
  readonly replacing?: Replacing;
}

/** The Secrets that the budget does not name yet, and the budget as it was read. */
export interface Unnamed {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
}

/** The parts as observed, perhaps by an earlier reconcile. */
export interface Parts {
  /** The next Secret to make: Secrets come before all other parts. */
  readonly toMake: SecretToMake | undefined;
  /** The reason why the configuration cannot be written: something of the user's is missing. */
  readonly lacking: Reason | undefined;
  /** The password of the system account; undefined before there is one. */
  readonly systemPassword: string | undefined;
  /** Former passwords that servers may still have. */
  readonly formerPasswords: readonly string[];
  /** Authorities to trust when servers speak TLS; empty when they never did. */
  readonly trustedCa: string;
  /**
   * Whether the last configuration told servers to speak TLS to clients; undefined when it is lost.
   */
  readonly saysTls: boolean | undefined;
  /** Pods, by uid, that ran before it said so, and may speak plain until they are reloaded. */
  readonly beforeTls: readonly string[];
  /** The first end of the certificates that servers have; undefined where they have none. */
  readonly servedUntilMs: number | undefined;
  /** A task of the clients that has a date, for people. */
  readonly notice: string | undefined;
  /** Passwords that servers were given last. */
  readonly known: KnownPasswords | undefined;
  /** Versions of the cluster's own Secrets, by name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Secrets of which no event tells yet; absent when there are none, or nothing can be done. */
  readonly unnamed?: Unnamed | undefined;
  /** Accounts that may have streams, by the last configuration; undefined when it is lost. */
  readonly accounts: readonly string[] | undefined;
  /** Undefined as long as secrets are missing. */
  readonly rendered: Rendered | undefined;
  readonly found: ReadonlyMap<PartKey, FoundPart>;
  /** Parts that are missing, or differ from how they are rendered. */
  readonly wrong: readonly RenderedPart[];
  /** The reason why the NetworkPolicy cannot be made; everything else goes on without it. */
  readonly policyRefusal: Reason | undefined;
  readonly claims: readonly Claim[];
  /** Servers whose volume is certain to be lost, and why. */
  readonly lost: ReadonlyMap<string, string>;
  /** Servers that cannot start because their claim gets no volume, and why. */
  readonly pending: ReadonlyMap<string, string>;
  /** Undefined when nothing has to grow. */
  readonly growth: Growth | undefined;
}

export interface State {
  readonly cluster: Cluster;
  readonly nowMs: number;
  readonly parts: Parts;
  readonly pods: readonly Pod[];
  readonly nats: NatsState;
  /** Answers of servers that refused to reload the wanted configuration. */
  readonly refusals: ReadonlyMap<string, string>;
}

/** How many servers the StatefulSet has; undefined before it is there. */
export const sizeOf = ({ found }: Pick<Parts, 'found'>): number | undefined =>
  found.get('statefulSet')?.replicas;

export const isSingle = ({ cluster }: State): boolean => cluster.spec.replicas === 1;

/** The servers of the StatefulSet at its present size. */
export const expected = ({ cluster, parts }: State): readonly string[] =>
  serverNames(cluster, sizeOf(parts) ?? 0);

export const podOf = ({ pods }: Pick<State, 'pods'>, server: string): Pod | undefined =>
  pods.find(({ name }) => name === server);

/** True when its pod is ready and the server answers. */
export function isUp(state: State, server: string): boolean {
  const pod = podOf(state, server);
  return pod?.isReady === true && !pod.isEnding && state.nats.servers.has(server);
}

export function isPodCurrent({ parts, pods }: State, server: string): boolean {
  const pod = podOf({ pods }, server);
  return pod !== undefined && pod.templateHash === parts.rendered?.templateHash;
}

/** The server with the highest ordinal: the first to leave. */
export const last = ({ cluster, parts }: State): string =>
  serverName(cluster, (sizeOf(parts) ?? 1) - 1);

export const byOrdinal = (a: string, b: string): number => ordinalOf(a) - ordinalOf(b);

/** The records in the status now. */
export function recordsOf({ cluster: { status } }: Pick<State, 'cluster'>): Records {
  const { restarting, leaving, replacing } = status;
  return {
    ...(restarting === undefined ? {} : { restarting }),
    ...(leaving === undefined ? {} : { leaving }),
    ...(replacing === undefined ? {} : { replacing }),
  };
}
