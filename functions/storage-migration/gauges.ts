// Shows for each StorageMigration how far it is and by what it is blocked, for alerts. All of it
// stands in the status, so it is right whichever instance works on it.
import type { Metrics } from '../../shared/function/metrics.ts';
import { conditionsOf } from '../../shared/kube/conditions.ts';
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
};
const BLOCKED_HELP = {
  [BLOCKED]:
    'Since when a StorageMigration waits for a person or another cause, in Unix seconds, with ' +
    'the reason of condition Blocked. Absent while nothing blocks it.',
};

export class MigrationGauges {
  readonly #gauges: ObjectGauges<keyof typeof HELP>;
  readonly #blocked: ObjectGauges<keyof typeof BLOCKED_HELP>;

  constructor(metrics: Metrics) {
    this.#gauges = new ObjectGauges(metrics, [LABEL], HELP);
    this.#blocked = new ObjectGauges(metrics, [LABEL, 'reason'], BLOCKED_HELP);
  }

  show({ object, name, status }: Migration): void {
    const { uid } = object.metadata;
    const { progress = NO_PROGRESS, pass = 0, proof } = status;
    const left = Math.max(0, progress.total - progress.done);
    this.#gauges.show(
      uid,
      { [LABEL]: name },
      {
        [OBJECTS]: progress.total,
        [LEFT]: left,
        [FAILED]: progress.failed,
        [RATE]: left === 0 ? undefined : progress.perSecond,
        [PASS]: pass,
        [PROVED]: proof === undefined ? 0 : Date.parse(proof.at) / 1_000,
      },
    );
    const blocked = conditionsOf(object).find(({ type }) => type === 'Blocked');
    const { reason = '', lastTransitionTime = '' } = blocked ?? {};
    const isBlocked = blocked?.status === 'True';
    this.#blocked.show(
      uid,
      { [LABEL]: name, reason },
      { [BLOCKED]: isBlocked ? Date.parse(lastTransitionTime) / 1_000 : undefined },
    );
  }

  keepOnly(uids: ReadonlySet<string>): void {
    this.#gauges.keepOnly(uids);
    this.#blocked.keepOnly(uids);
  }
}
