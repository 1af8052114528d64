// The status that a member tells of itself. It answers without a quorum, also as a learner.
import { alarmsIn, type EtcdAlarm } from './alarms.ts';
import type { Call } from './caller.ts';
import {
  countIn,
  type EtcdHeader,
  type Fields,
  fieldsIn,
  flagIn,
  headerIn,
  idIn,
  Odd,
  textIn,
  textsIn,
} from './fields.ts';

export interface EtcdStatus {
  readonly header: EtcdHeader & { readonly revision: string };
  readonly version: string;
  /** From 3.6 on. */
  readonly storageVersion: string | undefined;
  readonly dbSizeBytes: number;
  readonly dbSizeInUseBytes: number;
  /** From 3.6 on, and undefined where it was switched off. */
  readonly quotaBytes: number | undefined;
  /** Undefined when it knows of none. */
  readonly leaderId: string | undefined;
  readonly raftTerm: number;
  readonly raftIndex: number;
  readonly raftAppliedIndex: number;
  readonly isLearner: boolean;
  readonly errors: readonly string[];
  /** Those among the errors. */
  readonly alarms: readonly EtcdAlarm[];
  /** The version to which the cluster is going down. From 3.6 on. */
  readonly downgradeTo: string | undefined;
}

const ERRORS_MAX = 256;

export const STATUS: Call<EtcdStatus> = {
  path: '/v3/maintenance/status',
  read: (answer) => {
    const header = headerIn(answer);
    const { revision } = header;
    const version = textIn(answer, 'version');
    if (revision === undefined) throw new Odd('revision');
    if (!/^\d+\.\d+\.\d+/.test(version)) throw new Odd('version');
    const errors = textsIn(answer, 'errors', ERRORS_MAX);
    const leaderId = idIn(answer, 'leader');
    const downgrade = fieldsIn(answer, 'downgradeInfo');
    return {
      header: { ...header, revision },
      version,
      storageVersion: textIn(answer, 'storageVersion') || undefined,
      dbSizeBytes: countIn(answer, 'dbSize'),
      dbSizeInUseBytes: countIn(answer, 'dbSizeInUse'),
      quotaBytes: quotaIn(answer),
      leaderId: leaderId === '0' ? undefined : leaderId,
      raftTerm: countIn(answer, 'raftTerm'),
      raftIndex: countIn(answer, 'raftIndex'),
      raftAppliedIndex: countIn(answer, 'raftAppliedIndex'),
      isLearner: flagIn(answer, 'isLearner'),
      errors,
      alarms: alarmsIn(errors),
      downgradeTo: flagIn(downgrade, 'enabled') ? textIn(downgrade, 'targetVersion') : undefined,
    };
  },
};

/** Switched off by any number below zero. */
function quotaIn(answer: Fields): number | undefined {
  if (/^-\d/.test(textIn(answer, 'dbSizeQuota'))) return undefined;
  return countIn(answer, 'dbSizeQuota') || undefined;
}
