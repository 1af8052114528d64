// Applies one step of a schedule: makes an EtcdBackup, makes the Job that removes what is stored of
// one, or deletes one. An object that has the name of a run already stays, and has to be that run.
import { ETCD_BACKUPS } from '../../../shared/api/etcd-backup.ts';
import { JOBS } from '../../../shared/jobs/observe.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { timestamp } from '../../../shared/kube/timestamp.ts';
import { applied, type StepResult } from '../../../shared/stateful/steps.ts';
import { etcdBackupOf } from '../object.ts';
import type { ScheduleStep } from './decision.ts';
import type { ScheduleDeps } from './deps.ts';
import { madeBy, type Schedule, type Stored } from './object.ts';
import { backupManifest } from './render/backup.ts';
import { removalManifest } from './render/removal.ts';
import type { ScheduleState } from './state.ts';

type StepDeps = Pick<ScheduleDeps, 'kube' | 'image'>;
type MakeBackup = Extract<ScheduleStep, { readonly type: 'make-backup' }>;

/** Another look was first: the next one begins from what is there now. */
const NOTHING_DONE: StepResult = { isSlow: true };

export async function applyStep(
  deps: StepDeps,
  { schedule }: ScheduleState,
  step: ScheduleStep,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  switch (step.type) {
    case 'make-backup':
      return makeBackup(deps, schedule, step, signal);
    case 'note-removal':
      throw new Error('a record is written with the status');
    case 'make-removal':
      return makeRemoval(deps, schedule, step.stored, signal);
    default: {
      const { made, why } = step;
      const { name, uid, resourceVersion } = made;
      const { namespace } = schedule;
      const background = { propagationPolicy: 'Background', signal } as const;
      await deps.kube.delete(
        ETCD_BACKUPS,
        { namespace, name },
        { uid, resourceVersion },
        background,
      );
      return applied('BackupDeleted', `Deleted EtcdBackup ${name} (uid ${uid}). ${why}`);
    }
  }
}

async function makeBackup(
  { kube }: StepDeps,
  schedule: Schedule,
  { atMs, isToRehearse }: Pick<MakeBackup, 'atMs' | 'isToRehearse'>,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  const manifest = backupManifest(schedule, atMs, isToRehearse);
  const { name } = manifest.metadata;
  const { object, isNew } = await kube.create(ETCD_BACKUPS, manifest, { signal });
  if (isNew) return applied('BackupMade', `Created EtcdBackup ${name} for ${timestamp(atMs)}.`);
  if (madeBy(schedule, object) !== undefined) return NOTHING_DONE;
  const message =
    `EtcdBackup ${name} is there already and is not of this schedule; delete it, or the run of ` +
    `${timestamp(atMs)} is left out.`;
  return { reason: 'NameTaken', message };
}

async function makeRemoval(
  { kube, image }: StepDeps,
  schedule: Schedule,
  { name, good, made }: Stored,
  signal: AbortSignal,
): Promise<StepResult> {
  const found = await kube.get(ETCD_BACKUPS, { namespace: schedule.namespace, name }, { signal });
  if (found?.metadata.resourceVersion !== made.resourceVersion) return NOTHING_DONE;
  const manifest = removalManifest(etcdBackupOf(found), good, image);
  await kube.create(JOBS, manifest, { signal });
  const job = manifest.metadata.name;
  return applied('RemovalMade', `Created Job ${job}, which removes ${made.location}.`);
}
