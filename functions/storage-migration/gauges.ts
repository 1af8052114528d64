// Shows for each StorageMigration how far it is and by what it is blocked, for alerts. All of it
// stands in the status, so it is right whichever instance works on it.
import type { Metrics } from '../../shared/function/metrics.ts';
import { conditionsOf } from '../../shared/kube/conditions.ts';
import { secondsOf } from '../../shared/kube/timestamp.ts';
import { ObjectGauges } from '../../shared/stateful/object-gauges.ts';
import { type Migration, NO_PROGRESS } from './migration.ts';

const OBJECTS = 'ballast_storage_migration_objects';
const LEFT = 'ballast_storage_migration_objects_left';
const FAILED = 'ballast_storage_migration_objects_failed';
const RATE = 'ballast_storage_migration_objects_per_second';
const PASS = 'ballast_storage_migration_pass';
const PROVED = 'ballast_storage_migration_proved_timestamp_seconds';
const BLOCKED = 'ballast_storage_migration_blocked_since_timestamp_seconds';

const LABEL = 'storagemigration';
const HELP = {
  [OBJECTS]: 'Objects that the present pass of a StorageMigration looks at, or the last one did.',
  [LEFT]: 'Objects that the present pass of a StorageMigration has yet to look at.',
  [FAILED]: 'Objects that the present pass of a StorageMigration could not write.',
  [RATE]:
    'Objects per second of the present pass of a StorageMigration, since that began. Absent ' +
    'before its first page, and when nothing is left to look at.',
  [PASS]: 'The pass in which a StorageMigration is; 0 before the first.',
  [PROVED]:
    'When it was proved that all objects of a StorageMigration are stored in the current ' +
    'version, in Unix seconds; 0 while it is not.',
  [BLOCKED]:
    'Since when a StorageMigration waits for a person or another cause, in Unix seconds; 0 while ' +
    'nothing blocks it. Its condition Blocked has the reason.',
};

export class MigrationGauges {
  readonly #gauges: ObjectGauges<keyof typeof HELP>;

  constructor(metrics: Metrics) {
    this.#gauges = new ObjectGauges(metrics, [LABEL], HELP);
  }

  show({ object, name, status }: Migration): void {
    const { uid } = object.metadata;
    const { progress = NO_PROGRESS, pass = 0, proof } = status;
    const left = Math.max(0, progress.total - progress.done);
    const blocked = conditionsOf(object).find(({ type }) => type === 'Blocked');
    const blockedAt = blocked?.status === 'True' ? blocked.lastTransitionTime : undefined;
    this.#gauges.show(
      uid,
      { [LABEL]: name },
      {
        [OBJECTS]: progress.total,
        [LEFT]: left,
        [FAILED]: progress.failed,
        [RATE]: left === 0 ? undefined : progress.perSecond,
        [PASS]: pass,
        [PROVED]: secondsOf(proof?.at),
        [BLOCKED]: secondsOf(blockedAt),
      },
    );
  }

  keepOnly(uids: ReadonlySet<string>): void {
    this.#gauges.keepOnly(uids);
  }
}
