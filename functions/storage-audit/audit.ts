// Reads what is stored, from a file or a running etcd, and has it counted; the answer says what was
// read and of which moment.
import { type EtcdClient, openEtcd } from '../../shared/etcd/client.ts';
import { type Snapshot, openSnapshot } from '../../shared/etcd/snapshot/snapshot.ts';
import type { EtcdAddress } from '../../shared/etcd/transport.ts';
import { type AuditReport, auditStored } from '../../shared/stored/audit.ts';
import { CRDS, keyPrefixes, USUAL_PREFIXES } from '../../shared/stored/place.ts';
import type { GroupResource } from '../../shared/stored/built-in.ts';

export interface AuditOptions {
  readonly prefixes?: readonly string[] | undefined;
  readonly resources?: readonly GroupResource[] | undefined;
  readonly examplesMax?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** The source that was read. */
export interface Origin {
  readonly source: string;
  readonly revision: string;
  readonly sizeBytes?: number;
  /** Whether the file held the hash that it carries; undefined when it carries none. */
  readonly isHashed?: true;
  /** Revisions in the file, old ones and deletes among them. */
  readonly records?: number;
}

export interface Answer extends AuditReport {
  readonly of: Origin;
}

export function auditFile(path: string, options: AuditOptions): Promise<Answer> {
  const { signal, onProgress } = options;
  return auditSnapshot(path, openSnapshot(path, { signal, onProgress }), options);
}

export async function auditSnapshot(
  source: string,
  snapshot: Snapshot,
  options: AuditOptions,
): Promise<Answer> {
  const { hasDigest, sizeBytes } = snapshot.facts;
  const report = await auditStored(snapshot.entries(), { ...options, isUnhashed: !hasDigest });
  const { revision, records } = snapshot.facts;
  const isHashed = hasDigest ? ({ isHashed: true } as const) : {};
  return { of: { source, revision: `${revision}`, sizeBytes, ...isHashed, records }, ...report };
}

export async function auditEtcd(address: EtcdAddress, options: AuditOptions): Promise<Answer> {
  const etcd = openEtcd(address);
  try {
    return await auditClient(etcd, options);
  } finally {
    await etcd.close();
  }
}

export async function auditClient(etcd: EtcdClient, options: AuditOptions): Promise<Answer> {
  const { resources, prefixes = USUAL_PREFIXES, signal } = options;
  const revision = await etcd.revision(signal);
  const requested =
    resources && [...resources, CRDS].flatMap((each) => keyPrefixes(each, prefixes));
  // Everything, so that what lies elsewhere is told too.
  const wanted = requested === undefined ? [''] : [...new Set(requested)];
  const report = await auditStored(etcd.entries(wanted, { revision, signal }), options);
  return { of: { source: etcd.endpoints.join(', '), revision }, ...report };
}

export async function saveAndAudit(
  address: EtcdAddress,
  path: string,
  options: AuditOptions,
): Promise<Answer> {
  const etcd = openEtcd(address);
  try {
    await etcd.save(path, options);
  } finally {
    await etcd.close();
  }
  return auditFile(path, options);
}
