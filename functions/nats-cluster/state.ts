// What is known of a cluster when the next step is decided: the object, the parts it is made of,
// its servers' pods and claims, and what the servers say. Pure types and small questions about
// them.
import type { AccessMode, Leaving, Replacing, Restarting } from '../../shared/api/nats-cluster.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../shared/kube/objects.ts';
import { isRecord } from '../../shared/kube/json.ts';
import { type Cluster, ordinalOf, serverName, serverNames } from './cluster.ts';
import type { KnownPasswords } from './render/read-back.ts';
import type { PartKey, Rendered, RenderedPart } from './render/manifests.ts';
import type { NatsState } from './nats-state.ts';

/** The part of the status that later decisions need; an absent record is forgotten. */
export interface Records {
  readonly restarting?: Restarting;
  readonly leaving?: Leaving;
  readonly replacing?: Replacing;
}

export interface Pod {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly ip: string | undefined;
  readonly isReady: boolean;
  /** Somebody has asked for its end. */
  readonly isEnding: boolean;
  /** What it was made from. */
  readonly templateHash: string | undefined;
  /** Since when it has found no node; undefined when it has one. */
  readonly placelessSince: string | undefined;
  /** Why it is not ready, as far as the scheduler or the kubelet says. */
  readonly trouble: Reason | undefined;
  readonly unreadySince: string | undefined;
}

export interface Claim {
  readonly name: string;
  readonly uid: string;
  readonly phase: string;
  readonly size: string;
  readonly storageClassName: string | undefined;
  readonly accessMode: AccessMode;
  readonly createdAt: string | undefined;
  /** The node that its volume was made for; others may reach it too. */
  readonly node: string | undefined;
  /** Undefined as long as it has none. */
  readonly volume: string | undefined;
  readonly isEnding: boolean;
}

/** A secret that we make: absent, or due to be renewed. */
export interface SecretToMake {
  readonly why: 'Create' | 'Renew';
  /** It was there before, and what it said is known to nobody but the servers and the clients. */
  readonly lost?: Reason;
  readonly ref: ResourceRef;
  readonly manifest: Manifest;
}

/** What was found of the parts; it may be remembered from an earlier look. */
export interface Parts {
  /** Made before all others, one after the other. */
  readonly toMake: SecretToMake | undefined;
  /** Why the configuration cannot be written: something of the user's is missing. */
  readonly lacking: Reason | undefined;
  /** By which the servers are asked; undefined before there is one. */
  readonly systemPassword: string | undefined;
  /** Servers may still have one of these. */
  readonly formerPasswords: readonly string[];
  /** Whom to believe when servers speak TLS; empty when they never did. */
  readonly trustedCa: string;
  /** Whether the configuration told servers to speak TLS to clients; undefined when it is lost. */
  readonly saysTls: boolean | undefined;
  /** The pods, by uid, that ran before it said so, and may speak plain until they are reloaded. */
  readonly beforeTls: readonly string[];
  /** What clients have to do in time, for people. */
  readonly notice: string | undefined;
  /** The passwords that servers have been told last. */
  readonly known: KnownPasswords | undefined;
  /** Versions of our own Secrets, by name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Accounts that may have streams, as the servers have been told; undefined when that is lost. */
  readonly accounts: readonly string[] | undefined;
  /** Undefined as long as secrets are missing. */
  readonly rendered: Rendered | undefined;
  readonly found: ReadonlyMap<PartKey, KubeObject>;
  /** Those that are not there, or not as they were rendered. */
  readonly wrong: readonly RenderedPart[];
  /** Why the policy of the network cannot be made; all else goes on without it. */
  readonly policyRefusal: Reason | undefined;
  readonly claims: readonly Claim[];
  /** Whose volume is certain to be lost, and why. */
  readonly lost: ReadonlyMap<string, string>;
  /** Servers that cannot start because their claim gets no volume, and why. */
  readonly pending: ReadonlyMap<string, string>;
  /** Undefined when nothing has to grow. */
  readonly growth:
    | { readonly claim: Claim; readonly size: string; readonly isAllowed: boolean }
    | undefined;
}

export interface State {
  readonly cluster: Cluster;
  readonly nowMs: number;
  readonly parts: Parts;
  readonly pods: readonly Pod[];
  readonly nats: NatsState;
  /** Servers that refused to reload as they are to be, and what they said. */
  readonly refusals: ReadonlyMap<string, string>;
}

/** How many servers the StatefulSet has; undefined before it is there. */
export function sizeOf({ found }: Pick<Parts, 'found'>): number | undefined {
  const spec = found.get('statefulSet')?.['spec'];
  const replicas = isRecord(spec) ? spec['replicas'] : undefined;
  return typeof replicas === 'number' ? replicas : undefined;
}

export const isSingle = ({ cluster }: State): boolean => cluster.spec.replicas === 1;

/** The servers that there are to be now. */
export const expected = ({ cluster, parts }: State): readonly string[] =>
  serverNames(cluster, sizeOf(parts) ?? 0);

export const podOf = ({ pods }: Pick<State, 'pods'>, server: string): Pod | undefined =>
  pods.find(({ name }) => name === server);

/** Its pod is ready and it answers. */
export function isUp(state: State, server: string): boolean {
  const pod = podOf(state, server);
  return pod?.isReady === true && !pod.isEnding && state.nats.servers.has(server);
}

export function isPodCurrent({ parts, pods }: State, server: string): boolean {
  const pod = podOf({ pods }, server);
  return pod !== undefined && pod.templateHash === parts.rendered?.templateHash;
}

/** The server with the highest ordinal: the first to go. */
export const last = ({ cluster, parts }: State): string =>
  serverName(cluster, (sizeOf(parts) ?? 1) - 1);

export const byOrdinal = (a: string, b: string): number => ordinalOf(a) - ordinalOf(b);

/** What the status remembers now. */
export function recordsOf({ cluster: { status } }: Pick<State, 'cluster'>): Records {
  const { restarting, leaving, replacing } = status;
  return {
    ...(restarting === undefined ? {} : { restarting }),
    ...(leaving === undefined ? {} : { leaving }),
    ...(replacing === undefined ? {} : { replacing }),
  };
}
