// Everything this function holds while it is awake: the API server, and how members are asked. It
// remembers nothing between two looks but what may be lost.
import type { askLegacy } from '../../shared/etcd/legacy.ts';
import type { AttemptLog } from '../../shared/stateful/attempts.ts';
import { StatefulDeps, type StatefulOptions } from '../../shared/stateful/deps.ts';
import type { Weighed } from '../../shared/stateful/memory.ts';

/** Kept for one takeover between reconciles. */
interface Memory extends Weighed {
  /** There is no step yet. */
  readonly attempts: AttemptLog;
}

export class Deps extends StatefulDeps<Memory> {
  readonly ask: typeof askLegacy;

  constructor(options: StatefulOptions, ask: typeof askLegacy) {
    super(options, { make: () => ({ attempts: new Map() }), forget: () => undefined });
    this.ask = ask;
  }
}
