// One request to the API server before it is sent: what it is about, in the words of RBAC, and
// what goes over the wire.
import type { Place, Query } from './paths.ts';
import type { ResourceRef } from './objects.ts';
import type { Repeat } from './retry.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

export interface AboutResource extends Place {
  readonly verb: Verb;
  readonly ref: ResourceRef;
}

/** A path that is no resource, as `/version`. */
export interface AboutPath {
  readonly verb: string;
  readonly path: string;
}

export type About = AboutResource | AboutPath;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface KubeRequest {
  readonly about: About;
  readonly method: Method;
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Asks for the metadata of objects alone. */
  readonly as?: 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined;
  readonly repeat: Repeat;
  /** More than this is not read: KUBE_TOO_LARGE. */
  readonly bytesMax?: number;
  /** Reads only the texts at these paths, as one flat JSON object, from an answer of any size. */
  readonly skim?: readonly string[];
}

/** Options of every call. */
export interface CallOptions {
  /** Ends the call with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** For the call with all its attempts; 30 s when absent. */
  readonly timeoutMs?: number | undefined;
  /** Tells the first failure instead of sending again: for callers who follow how it goes. */
  readonly isOnce?: boolean | undefined;
}
