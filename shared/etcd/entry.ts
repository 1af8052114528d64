// One key of etcd with its value, as both the live client and the snapshot reader hand it over.

export interface EtcdEntry {
  readonly key: string;
  /** The first bytes of the value, or all; good until the next batch is asked for. */
  readonly head: Uint8Array;
  readonly sizeBytes: number;
  whole(): Uint8Array;
}

export type EtcdEntries = AsyncGenerator<readonly EtcdEntry[], void, undefined>;
