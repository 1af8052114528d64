// One key of etcd with its value, as every source returns it: a live etcd, a snapshot file, a test.
// The source is not part of it.

export interface StoredValue {
  readonly key: string;
  /**
   * The first bytes of the value, or all of it. They are good until the next batch is asked for:
   * a source may use its memory again.
   */
  readonly head: Uint8Array;
  readonly sizeBytes: number;
  /** The value from its first byte to its last; it may have to be read for that. */
  whole(): Uint8Array;
}

/** In batches, as they are read: a step of an async iterator for each of millions costs seconds. */
export type StoredSource = AsyncIterable<readonly StoredValue[]>;
