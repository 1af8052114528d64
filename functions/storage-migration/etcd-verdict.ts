// Compares the values in etcd with the objects of a kind, and words the result for the status.
// Pure.
import type { Verification } from '../../shared/api/storage-migration.ts';
import type { StoredCount } from '../../shared/stored/audit.ts';
import type { EtcdAccess } from './deps.ts';
import type { Migration } from './migration.ts';
import { ETCD_CANNOT_TELL } from './status.ts';
import type { Reason } from '../../shared/kube/conditions.ts';

export type EtcdAnswer =
  | { readonly result: 'current'; readonly revision: string; readonly values: number }
  /** Something is stored in another version. */
  | { readonly result: 'old'; readonly message: string }
  /** It says nothing that could be relied on. */
  | { readonly result: 'unusable'; readonly why: Reason };

const ETCD: Verification = 'Etcd';

export const asksEtcd = ({ spec }: Migration): boolean => spec.verify.includes(ETCD);

/** Known before anything is written. */
export function etcdMissing(
  etcd: EtcdAccess | undefined,
  migration: Migration,
): Reason | undefined {
  if (etcd !== undefined || !asksEtcd(migration)) return undefined;
  const message =
    'spec.verify names Etcd, and the function knows no etcd: set ETCD_ENDPOINTS, and where etcd ' +
    'wants them ETCD_CA_FILE, ETCD_CERT_FILE and ETCD_KEY_FILE, in its Service; or take Etcd out ' +
    'of spec.verify.';
  return { reason: 'EtcdUnknown', message };
}

export interface Subject {
  /** `widgets.example.com`. */
  readonly kind: string;
  /** With its group, as it is stored. */
  readonly apiVersion: string;
  readonly revision: string;
}

/**
 * The message must stay the same while the result does: a status that changes wakes the function.
 * So it names no revision, and no number that moves with each new object.
 */
export function judgeStored(
  stored: StoredCount,
  { kind, apiVersion, revision }: Subject,
): EtcdAnswer {
  const { total, versions, hidden } = stored;
  const old = [...versions].filter(([name]) => name !== apiVersion);
  if (old.length > 0) {
    const each = old.map(
      ([name, { count, examples }]) => `${count} in ${name} (${examples.join(', ')})`,
    );
    const message =
      `etcd has values of ${kind} in other versions than ${apiVersion}: ${each.join('; ')}. The ` +
      'API server changed nothing when it wrote them once more.';
    return { result: 'old', message };
  }
  if (hidden.count === 0) return { result: 'current', revision, values: total };
  const message =
    `Of ${total} values of ${kind} in etcd ${hidden.count} do not show their version, because ` +
    `they are encrypted or unreadable, such as ${hidden.examples[0] ?? ''}. Take Etcd out of ` +
    'spec.verify, or have them stored in the clear and edit the spec.';
  return unusable({ reason: ETCD_CANNOT_TELL, message });
}

export const unusable = (why: Reason): EtcdAnswer => ({ result: 'unusable', why });

export function isAnother({ client }: EtcdAccess, has: string): EtcdAnswer {
  const message =
    `The etcd at ${client.endpoints.join(', ')} is not the one that holds the kind: it ${has}. ` +
    "Name the API server's own in ETCD_ENDPOINTS, and where it keeps its keys in ETCD_PREFIXES.";
  return unusable({ reason: 'EtcdIsAnother', message });
}
