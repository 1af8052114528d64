// What servers answer over the system account, of which these types name what is read here.
// Measured on nats-server 2.14.9 and 2.15.2; docs/design/20261121-nats-cluster.md says what.

export interface ServerAnswer {
  readonly server: { readonly name: string; readonly id: string; readonly ver: string };
}

export interface VarzAnswer extends ServerAnswer {
  readonly data: { readonly config_digest?: string; readonly start: string };
}

export interface HealthAnswer extends ServerAnswer {
  readonly data: {
    readonly status: string;
    readonly error?: string;
    readonly errors?: readonly HealthError[];
  };
}

export interface HealthError {
  readonly type?: string;
  readonly account?: string;
  readonly stream?: string;
  readonly consumer?: string;
  readonly error?: string;
}

export interface JszAnswer extends ServerAnswer {
  readonly data: {
    readonly meta_cluster?: MetaCluster;
    readonly account_details?: readonly AccountDetail[] | null;
  };
}

/** Only the leader's view of the others is worth anything; its own peer id stands in `peer`. */
interface MetaCluster {
  readonly leader?: string;
  readonly peer?: string;
  readonly cluster_size?: number;
  readonly replicas?: readonly PeerInfo[] | null;
}

export interface PeerInfo {
  readonly name: string;
  readonly current: boolean;
  readonly offline?: boolean;
  /** Nanoseconds since it was heard of. */
  readonly active: number;
  readonly lag?: number;
  readonly peer?: string;
}

interface AccountDetail {
  readonly name: string;
  readonly stream_detail?: readonly StreamDetail[] | null;
}

export interface StreamDetail {
  readonly name: string;
  readonly cluster?: GroupCluster;
  readonly config?: {
    readonly num_replicas: number;
    readonly storage: string;
    readonly retention?: string;
  };
  readonly consumer_detail?: readonly ConsumerDetail[] | null;
}

export interface ConsumerDetail {
  readonly name: string;
  readonly cluster?: GroupCluster;
  readonly config?: { readonly num_replicas?: number; readonly durable_name?: string };
}

export interface GroupCluster {
  readonly leader?: string;
  readonly replicas?: readonly PeerInfo[] | null;
  /** While its members change (2.15). */
  readonly desired?: unknown;
}
