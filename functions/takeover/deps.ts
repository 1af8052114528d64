// Everything this function holds while it is awake: the API server, and the door to members. It
// remembers nothing between two looks but what may be lost.
import type { AttemptLog } from '../../shared/stateful/attempts.ts';
import { StatefulDeps, type StatefulOptions } from '../../shared/stateful/deps.ts';
import type { Weighed } from '../../shared/stateful/memory.ts';
import type { Door } from './door.ts';

/** Kept for one takeover between reconciles. */
interface Memory extends Weighed {
  /** Steps that may change nothing. */
  readonly attempts: AttemptLog;
}

export class Deps extends StatefulDeps<Memory> {
  readonly door: Door;

  constructor(options: StatefulOptions, door: Door) {
    super(options, { make: () => ({ attempts: new Map() }), forget: () => undefined });
    this.door = door;
  }
}
