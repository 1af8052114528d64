// The facts of a backup, in a small file beside it, which later readers go by. Fields are only
// ever added.
import { type BackupFacts, FACTS_KIND } from '../../shared/api/etcd-backup.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';

export interface Facts extends BackupFacts {
  readonly kind: typeof FACTS_KIND;
}

/** The member that it is from. */
export interface Origin {
  readonly version: string;
  /** In decimal, as the members are asked by. */
  readonly clusterId: string;
  readonly memberId: string;
  readonly alarms: readonly string[];
}

/** The answer of the member to the question for its hash. */
export type Confirmation = { readonly isHashConfirmed: true } | { readonly unconfirmed: string };

export interface Checked {
  readonly revision: bigint;
  readonly compactRevision: bigint;
  readonly keys: number;
  readonly hashKv: number;
  readonly confirmation: Confirmation;
}

export interface Received {
  readonly takenAtMs: number;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export function factsOf(origin: Origin, received: Received, checked: Checked): Facts {
  const { version, clusterId, memberId, alarms } = origin;
  const { revision, compactRevision, keys, hashKv, confirmation } = checked;
  return {
    kind: FACTS_KIND,
    takenAt: new Date(received.takenAtMs).toISOString(),
    sizeBytes: received.sizeBytes,
    sha256: received.sha256,
    revision: `${revision}`,
    compactRevision: `${compactRevision}`,
    keys,
    hashKv,
    isHashConfirmed: false,
    ...confirmation,
    etcdVersion: version,
    clusterId: hexOf(clusterId),
    memberId: hexOf(memberId),
    ...(alarms.length === 0 ? {} : { alarms }),
  };
}

export const textOfFacts = (facts: Facts): Buffer =>
  Buffer.from(`${JSON.stringify(facts, undefined, 2)}\n`);
