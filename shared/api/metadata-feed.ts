// MetadataFeed as the API server stores it: which objects a feed shows, where, and for how long.
// knative/crds/metadata-feed.yaml is the source of truth; defaults are filled in by the API server.

export const METADATA_FEEDS = {
  group: 'ballast.dev',
  version: 'v1alpha1',
  resource: 'metadatafeeds',
} as const;

export interface MetadataFeedSpec {
  /** Every kind that a feed shows by itself when absent. */
  readonly resources?: readonly FeedResource[];
  readonly namespaces?: {
    readonly include?: readonly string[];
    readonly exclude?: readonly string[];
  };
  readonly pods: { readonly labels: readonly string[]; readonly annotations: readonly string[] };
  readonly stream: {
    /** The name of the feed on NATS; that of the object when absent. */
    readonly name?: string;
    readonly replicas: number;
    readonly storage: 'File' | 'Memory';
  };
  readonly retention: { readonly tombstoneSeconds: number; readonly historySeconds: number };
  readonly sweepSeconds: number;
  /** The NATS that the function itself is told about when absent. */
  readonly nats?: { readonly secretRef: { readonly name: string } };
}

export interface FeedResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural. */
  readonly resource: string;
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly fields?: readonly { readonly name: string; readonly path: string }[];
}

export interface MetadataFeedStatus {
  readonly observedGeneration?: number;
  /** Grows when versions from before mean nothing any more. */
  readonly epoch?: number;
  /** The marker's id: the identity of what the stream holds. */
  readonly streamId?: string;
  /** The sequence up to which the stream was compared with the API server, and when. */
  readonly version?: number;
  readonly sweptAt?: string;
  /**
   * Sequence of the floor that the last sweep wrote: a stream that lost its end has an older one.
   */
  readonly floorSequence?: number;
  readonly resources?: readonly ResourceStatus[];
  readonly scopes?: readonly ScopeStatus[];
  readonly events?: EventCounts;
  readonly conditions?: readonly FeedCondition[];
}

/** Ready, InSync and Degraded. */
interface FeedCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export interface ResourceStatus {
  readonly name: string;
  /** Every change up to it is in the stream. */
  readonly resourceVersion: string;
  readonly verifiedAt: string;
  readonly objects: number;
  /** How many ought to be shown and are not: twice the same is a gap. */
  readonly lacking?: number;
  /** How many are shown and ought not to be. */
  readonly stray?: number;
  /** How many did not fit into a message when they were last listed. */
  readonly oversize?: number;
  readonly oversizeNames?: readonly string[];
}

/** The checkpoints of one kind of scope, summed up. */
export interface ScopeStatus {
  readonly name: 'all' | 'cluster' | 'node';
  readonly scopes: number;
  readonly objects: number;
  readonly digest: string;
}

/** Since the feed was made. */
export interface EventCounts {
  readonly received: number;
  readonly published: number;
  readonly unchanged: number;
  readonly overtaken: number;
  readonly healed: number;
  /** Published on the word of an event, and not so in the API server. */
  readonly unfounded: number;
  readonly oversize: number;
}
