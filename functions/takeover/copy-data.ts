// Brings the data over: an EtcdBackup of the old cluster, an EtcdRestore of that into the new one,
// and the comparison of both, key by key. Pure.
import { waitFor } from '../../shared/stateful/decision.ts';
import { nameTaken } from './blocked.ts';
import type { Decision } from './decision.ts';
import { again } from './frozen.ts';
import type { Records } from './records.ts';
import type { FoundJob, State } from './state.ts';

export function takeSnapshot({ work: seen }: State, records: Records): Decision {
  const { frozen, clusterId } = records.work;
  const { claim, backup } = seen ?? {};
  const next = 'Take a snapshot';
  if (claim === undefined) return { step: { type: 'make', kind: 'claim' }, next };
  if (!claim.isOurs) return nameTaken(next, 'PersistentVolumeClaim', claim.name);
  if (backup === undefined) return { step: { type: 'make', kind: 'EtcdBackup' }, next };
  if (!backup.isOurs) return nameTaken(next, 'EtcdBackup', backup.name);
  if (backup.phase !== 'Complete') return awaited(next, 'EtcdBackup', backup);
  const is = `the snapshot is of revision ${backup.revision ?? ''} of cluster ${backup.clusterId}`;
  return again(records, `${is}, and not of ${frozen?.revision ?? ''} of ${clusterId}`);
}

export function makeCluster({ work: seen }: State, records: Records): Decision {
  const { work, steps } = records;
  const { restore, cluster } = seen ?? {};
  const next = 'Make the EtcdCluster';
  if (restore === undefined) return { step: { type: 'make', kind: 'EtcdRestore' }, next };
  if (!restore.isOurs) return nameTaken(next, 'EtcdRestore', restore.name);
  const { clusterId: newClusterId } = restore;
  if (newClusterId !== undefined && newClusterId !== work.newClusterId) {
    const noted = { work: { ...work, newClusterId }, steps };
    return { step: { type: 'write-records', records: noted }, next: `Note ${newClusterId}` };
  }
  if (restore.phase !== 'Complete') return awaited(next, 'EtcdRestore', restore);
  const message = `The EtcdCluster is not Ready: ${cluster?.says ?? 'it is gone.'}`;
  const waits = { reason: 'EtcdClusterStarting', message };
  return waitFor(next, [waits], cluster?.isOurs === true ? undefined : waits);
}

function awaited(
  next: string,
  kind: string,
  { name, phase, says, isDegraded }: FoundJob,
): Decision {
  const waits = {
    reason: phase === 'Failed' ? `${kind}Failed` : `${kind}Waits`,
    message: `${kind} ${name} says ${says.reason}: ${says.message}`,
  };
  if (phase !== 'Failed' && !isDegraded) return waitFor(next, [waits]);
  const message = `${waits.message} Writers wait: see to it, or write spec.rollback: true.`;
  const trouble = { ...waits, message };
  return waitFor(next, [trouble], trouble);
}

export function compareKeys({ work: seen }: State, records: Records): Decision {
  const { work, steps } = records;
  const next = 'Compare every key';
  const comparison = seen?.comparison ?? {
    reason: 'NotCompared',
    message: 'There is nobody to compare with yet.',
  };
  if ('reason' in comparison) return waitFor(next, [comparison]);
  const { keys, after, isWhole, differs } = comparison;
  if (differs !== undefined) {
    const message =
      `The new cluster is not the same: ${differs}. Nothing is led over to it. Roll it back ` +
      '(spec.rollback: true).';
    const trouble = { reason: 'KeysDiffer', message };
    return waitFor(next, [trouble], trouble);
  }
  const noted = { work: { ...work, compared: { keys, after, isWhole } }, steps };
  return { step: { type: 'write-records', records: noted }, next: `Note ${keys} equal keys` };
}
