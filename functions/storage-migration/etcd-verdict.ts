// What follows from what etcd holds of a kind, in the words in which a migration says it. Pure.
import type { Verification } from '../../shared/api/storage-migration.ts';
import type { StoredCount } from '../../shared/stored/audit.ts';
import type { EtcdAccess } from './deps.ts';
import type { Migration } from './migration.ts';
import { ETCD_CANNOT_TELL } from './status.ts';
import type { Reason } from '../../shared/kube/conditions.ts';

export type EtcdAnswer =
  | { readonly says: 'current'; readonly revision: string; readonly values: number }
  /** Something is stored in another version. */
  | { readonly says: 'old'; readonly message: string }
  /** It says nothing that could be relied on. */
  | { readonly says: 'nothing'; readonly why: Reason };

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

export interface About {
  /** `widgets.example.com`. */
  readonly what: string;
  /** With its group, as it is stored. */
  readonly apiVersion: string;
  readonly revision: string;
}

/**
 * What it says is said again and again while it is so, and a status that changes wakes the
 * function: no message names the revision, or a number that moves with each new object.
 */
export function judged(stored: StoredCount, { what, apiVersion, revision }: About): EtcdAnswer {
  const { total, versions, hidden } = stored;
  const old = [...versions].filter(([name]) => name !== apiVersion);
  if (old.length > 0) {
    const each = old.map(
      ([name, { count, examples }]) => `${count} in ${name} (${examples.join(', ')})`,
    );
    const message =
      `etcd has values of ${what} in other versions than ${apiVersion}: ${each.join('; ')}. The ` +
      'API server changed nothing when it wrote them once more.';
    return { says: 'old', message };
  }
  if (hidden.count === 0) return { says: 'current', revision, values: total };
  const message =
    `Of ${total} values of ${what} in etcd ${hidden.count} do not show their version, because ` +
    `they are encrypted or unreadable, such as ${hidden.examples[0] ?? ''}. Take Etcd out of ` +
    'spec.verify, or have them stored in the clear and edit the spec.';
  return nothing({ reason: ETCD_CANNOT_TELL, message });
}

export const nothing = (why: Reason): EtcdAnswer => ({ says: 'nothing', why });

export function isAnother({ client }: EtcdAccess, has: string): EtcdAnswer {
  const message =
    `The etcd at ${client.endpoints.join(', ')} is not the one that holds the kind: it ${has}. ` +
    "Name the API server's own in ETCD_ENDPOINTS, and where it keeps its keys in ETCD_PREFIXES.";
  return nothing({ reason: 'EtcdIsAnother', message });
}
