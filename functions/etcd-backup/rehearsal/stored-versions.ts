// Sums up in which versions objects are stored, in few enough words for the last ones of a pod.
// Pure.
import type { StoredVersion, StoredVersions } from '../../../shared/api/etcd-backup.ts';
import type { AuditReport } from '../../../shared/stored/audit.ts';
import { resourceName } from '../../../shared/stored/place.ts';

export const STORED_VERSIONS_MAX = 20;
/** With the next one the rest of a termination message, which has 4096 bytes. */
const BYTES_MAX = 1_500;
export const UNREADABLE_BYTES_MAX = 500;

export function storedVersionsOf({
  rows,
  values,
}: Pick<AuditReport, 'rows' | 'values'>): StoredVersions {
  const counts = new Map<string, StoredVersion>();
  for (const row of rows) {
    if (row.encoding === 'unreadable') continue;
    const [resource, version] = [resourceName(row), row.apiVersion ?? 'encrypted'];
    const id = `${resource} ${version}`;
    const objects = (counts.get(id)?.objects ?? 0) + row.count;
    counts.set(id, { resource, version, objects });
  }
  const all = [...counts.values()];
  const several = Map.groupBy(all, ({ resource }) => resource);
  const isMixed = ({ resource }: StoredVersion): number =>
    (several.get(resource)?.length ?? 0) > 1 ? 1 : 0;
  const sorted = all.toSorted(
    (one, other) => isMixed(other) - isMixed(one) || other.objects - one.objects,
  );
  return { objects: values, total: all.length, most: fitting(sorted) };
}

function fitting(all: readonly StoredVersion[]): readonly StoredVersion[] {
  let bytes = 0;
  const most = all.slice(0, STORED_VERSIONS_MAX);
  const end = most.findIndex(
    (one) => (bytes += Buffer.byteLength(JSON.stringify(one))) > BYTES_MAX,
  );
  return end === -1 ? most : most.slice(0, end);
}
