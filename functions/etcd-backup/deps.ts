// Everything this function holds while it is awake: the API server, the image that Jobs run, and
// for each backup how often steps were tried. All of it may be lost.
import { Metrics } from '../../shared/function/metrics.ts';
import type { AttemptLog } from '../../shared/stateful/attempts.ts';
import { StatefulDeps, type StatefulOptions } from '../../shared/stateful/deps.ts';
import type { Weighed } from '../../shared/stateful/memory.ts';
import { ScheduleDeps } from './schedule/deps.ts';

/** Kept for one backup between reconciles. */
interface Memory extends Weighed {
  /** Steps that may change nothing. */
  readonly attempts: AttemptLog;
}

export class Deps extends StatefulDeps<Memory> {
  readonly image: string;
  readonly schedules: ScheduleDeps;

  constructor(options: StatefulOptions, image: string, metrics = new Metrics()) {
    super(options, { make: () => ({ attempts: new Map() }), forget: () => undefined });
    this.image = image;
    this.schedules = ScheduleDeps.beside(options, image, metrics);
  }
}
