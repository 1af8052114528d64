// The wiring of the manifests: the one list from which adapters, broker, ping sources and functions
// of an embedded control plane are started.

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Where events go: an object that stands for an address (with a path below it), or the address
 * itself.
 */
export type Destination =
  | ({ readonly kind: 'Broker' | 'Service'; readonly path?: string } & ObjectName)
  | { readonly kind: 'uri'; readonly uri: string };

export interface DeliverySpec {
  readonly retries: number;
  readonly backoff?: { readonly policy: 'exponential' | 'linear'; readonly delayMs: number };
  /** How long one try may take. */
  readonly timeoutMs?: number;
  readonly deadLetterSink?: Destination;
  /** How events are sent; as they came when absent, which for a broker is binary. */
  readonly format?: 'json' | 'binary';
}

/**
 * `attributes` is the old field `filter`, where the empty text means "any value"; the others are
 * dialects of `filters`.
 */
export type Filter =
  | { readonly dialect: 'attributes' | 'exact' | 'prefix' | 'suffix'; readonly values: Texts }
  | { readonly dialect: 'all' | 'any'; readonly filters: readonly Filter[] }
  | { readonly dialect: 'not'; readonly filter: Filter };

export type Texts = Readonly<Record<string, string>>;

export interface BrokerWiring extends ObjectName {
  readonly file: string;
  readonly delivery: DeliverySpec;
}

export interface TriggerWiring extends ObjectName {
  readonly file: string;
  /** In the trigger's own namespace. */
  readonly broker: string;
  readonly filter: Filter;
  readonly subscriber: Destination;
  /** The trigger's own, or else the broker's: never a mixture. */
  readonly delivery: DeliverySpec;
}

export interface ApiServerSourceWiring extends ObjectName {
  readonly file: string;
  readonly mode: 'Reference' | 'Resource';
  readonly resources: readonly WatchedResource[];
  /** Undefined: all of them, by one watch per kind. */
  readonly namespaces?: readonly string[];
  readonly owner?: { readonly apiVersion: string; readonly kind: string };
  readonly extensions: Texts;
  readonly serviceAccountName: string;
  readonly sink: Destination;
}

export interface WatchedResource {
  readonly apiVersion: string;
  readonly kind: string;
  /** As the API server reads it in `labelSelector`; empty selects everything. */
  readonly labelSelector: string;
}

export interface PingWiring extends ObjectName {
  readonly file: string;
  readonly schedule: string;
  readonly timezone?: string;
  readonly contentType?: string;
  readonly data?: { readonly text: string } | { readonly base64: string };
  readonly extensions: Texts;
  readonly sink: Destination;
}

export interface FunctionWiring extends ObjectName {
  readonly file: string;
  readonly env: Texts;
  readonly serviceAccountName: string;
  /** Requests at a time per instance; 0 is no limit. */
  readonly containerConcurrency: number;
  /** When the queue-proxy gives a request up. */
  readonly timeoutSeconds: number;
}

/** To be applied as they are, in this order. */
export interface ClusterObject {
  readonly file: string;
  readonly object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: {
      readonly name: string;
      readonly namespace?: string;
    } & Readonly<Record<string, unknown>>;
  } & Readonly<Record<string, unknown>>;
}

export interface Wiring {
  readonly brokers: readonly BrokerWiring[];
  readonly triggers: readonly TriggerWiring[];
  readonly sources: readonly ApiServerSourceWiring[];
  readonly pings: readonly PingWiring[];
  readonly functions: readonly FunctionWiring[];
  readonly objects: readonly ClusterObject[];
}

export const keyOf = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`;
