// Fields that kinds of servers in pods have in common. The definitions in knative/crds are the
// source of truth; defaults are filled in by the API server.

/** The access mode of a claim: which pods may mount its volume at the same time. */
export type AccessMode = 'ReadWriteOncePod' | 'ReadWriteOnce';

export interface Amounts {
  readonly cpu?: string;
  readonly memory?: string;
}
