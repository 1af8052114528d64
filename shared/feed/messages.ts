// The types of a feed's messages, and the one place that encodes and decodes them. docs/feed.md
// explains them to authors of other readers.
import type { ResourceName } from './subjects.ts';

/** An object as the feed shows it. Fields that say nothing are left out. */
export interface ObjectMessage {
  /** The epoch in which it was written; resourceVersions compare within one epoch only. */
  readonly epoch: number;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  /** The version of the last change that a reader can see. */
  readonly resourceVersion: string;
  readonly created?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The controller among its owners. */
  readonly owner?: OwnerMessage;
  /** Pods, and the parts of endpoint slices. */
  readonly node?: string;
  readonly phase?: string;
  readonly ready?: boolean;
  readonly reason?: string;
  readonly hostNetwork?: true;
  /** The addresses of a pod, a node or a service, of all families. */
  readonly ips?: readonly string[];
  readonly containers?: readonly ContainerMessage[];
  readonly ports?: readonly PortMessage[];
  readonly selector?: Readonly<Record<string, string>>;
  /** The service that an endpoint slice belongs to. */
  readonly service?: string;
  readonly addressType?: string;
  readonly endpoints?: readonly EndpointMessage[];
  /** In the head of an endpoint slice: the nodes that hold a part of it. */
  readonly nodes?: readonly string[];
  /** How many pods are wanted. */
  readonly desired?: number;
  /** The named fields of a kind that the feed's spec lists. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface OwnerMessage {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface ContainerMessage {
  readonly name: string;
  readonly image: string;
  readonly id?: string;
  readonly state?: 'waiting' | 'running' | 'terminated';
  readonly reason?: string;
  readonly ready?: boolean;
  readonly restarts?: number;
  /** Set if it is not an ordinary container. */
  readonly role?: 'init' | 'ephemeral';
}

export interface PortMessage {
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: string;
  readonly target?: number | string;
}

export interface EndpointMessage {
  readonly ips: readonly string[];
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
  readonly pod?: { readonly name: string; readonly uid: string };
}

/** The object is not on this subject any more: deleted, or moved to another place. */
export interface Tombstone {
  readonly deleted: true;
  readonly epoch: number;
  readonly uid: string;
  /** The state of the cluster in which it was seen to be absent. */
  readonly resourceVersion: string;
  /**
   * When it was seen to be absent; what it held until then is kept for questions about the past.
   */
  readonly at: string;
  readonly moved?: true;
  readonly last?: LastSeen;
}

export type LastSeen = Pick<ObjectMessage, 'kind' | 'created' | 'node' | 'ips' | 'owner'>;

export type FeedMessage = ObjectMessage | Tombstone;

/** The head of a feed. A new `id` means: what a reader holds is of another stream. */
export interface Marker {
  readonly format: 1;
  readonly id: string;
  readonly epoch: number;
  /** False from the beginning of an epoch until every object has been published in it. */
  readonly ready: boolean;
  readonly resources: readonly ResourceName[];
  readonly historySeconds: number;
  /** How often the stream is compared; absent in what was written before readers were told. */
  readonly sweepSeconds?: number;
}

/**
 * The state of a ledger as of a version, whatever came since: a reader that has applied all of the
 * ledger up to it, and nothing later, holds these objects and this digest.
 */
export interface Checkpoint {
  readonly epoch: number;
  readonly version: number;
  readonly objects: number;
  readonly digest: string;
}

/** A reader that stands below `version` must take the snapshot. */
export interface Floor {
  readonly version: number;
}

/**
 * Written when the API server has acknowledged a status: one that is older than this was brought
 * back from a copy of etcd.
 */
export interface StatusReceipt {
  readonly epoch: number;
  /** The floor's sequence in the status: each sweep writes a later one. */
  readonly floorSequence: number;
}

export const isTombstone = (message: FeedMessage): message is Tombstone => 'deleted' in message;

/** Bytes that are no UTF-8 are no message: readers in other languages would not agree on them. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function encodeMessage(
  message: FeedMessage | Marker | Checkpoint | Floor | StatusReceipt,
): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(message));
}

/** Undefined for what is no object message or tombstone: somebody else wrote it. */
export function decodeMessage(data: Uint8Array): FeedMessage | undefined {
  const value = decodeRecord(data);
  const { epoch, uid, resourceVersion, kind, name, deleted, nodes } = value ?? {};
  const isVersioned =
    typeof epoch === 'number' && typeof uid === 'string' && typeof resourceVersion === 'string';
  const isNamed = typeof kind === 'string' && typeof name === 'string';
  if (!isVersioned || !(deleted === true || isNamed)) return undefined;
  // A reader of an endpoint slice continues with these nodes.
  if (nodes !== undefined && !isNodeNames(nodes)) return undefined;
  // The fields that decide were looked at; the others are shown as they came.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return value as unknown as FeedMessage;
}

const NODE_NAME_LENGTH_MAX = 253;

const isNodeNames = (nodes: unknown): boolean =>
  Array.isArray(nodes) &&
  nodes.every(
    (node) => typeof node === 'string' && node !== '' && node.length <= NODE_NAME_LENGTH_MAX,
  );

export function decodeMarker(data: Uint8Array): Marker | undefined {
  const value = decodeRecord(data);
  const { format, id, epoch } = value ?? {};
  if (format !== 1 || typeof id !== 'string' || !isEpoch(epoch)) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return value as unknown as Marker;
}

/** True for an epoch that another one can follow. */
const isEpoch = (epoch: unknown): boolean =>
  Number.isSafeInteger(epoch) && Number(epoch) >= 0 && Number(epoch) < Number.MAX_SAFE_INTEGER;

export function decodeCheckpoint(data: Uint8Array): Checkpoint | undefined {
  const value = decodeRecord(data);
  const { epoch, version, objects, digest } = value ?? {};
  if (typeof epoch !== 'number' || typeof version !== 'number') return undefined;
  if (typeof objects !== 'number' || typeof digest !== 'string') return undefined;
  return { epoch, version, objects, digest };
}

export function decodeFloor(data: Uint8Array): Floor | undefined {
  const version = decodeRecord(data)?.['version'];
  return typeof version === 'number' ? { version } : undefined;
}

export function decodeStatusReceipt(data: Uint8Array): StatusReceipt | undefined {
  const { epoch, floorSequence } = decodeRecord(data) ?? {};
  if (typeof epoch !== 'number' || typeof floorSequence !== 'number') return undefined;
  return { epoch, floorSequence };
}

function decodeRecord(data: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(data));
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
