// Everything this function holds while it is awake: the API server, and how often steps were tried.
// All of it may be lost.
import type { AttemptLog } from '../../shared/stateful/attempts.ts';
import type { PendingMemory } from '../../shared/stateful/pending.ts';
import { StatefulDeps, type StatefulOptions } from '../../shared/stateful/deps.ts';

/** Kept for one peer between reconciles, each of which reads the peer anew. */
export interface Memory extends PendingMemory {
  /** Steps that may change nothing. */
  readonly attempts: AttemptLog;
  readonly parts?: never;
  readonly bytes?: never;
}

export class Deps extends StatefulDeps<Memory> {
  constructor(options: StatefulOptions) {
    super(options, { make: () => ({ attempts: new Map() }), forget: () => undefined });
  }
}
