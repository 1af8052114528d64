// Everything this function holds while it is awake: the API server, and for each peer how often
// steps were tried, and a cache that saves reads between two reconciles. All of it may be lost.
import type { AttemptLog } from '../../shared/stateful/attempts.ts';
import { StatefulDeps, type StatefulOptions } from '../../shared/stateful/deps.ts';
import type { Remembered, Weighed } from '../../shared/stateful/memory.ts';
import type { PendingMemory } from '../../shared/stateful/pending.ts';
import type { Peer } from './peer.ts';
import type { Parts } from './state.ts';

/** Parts of a peer at rest, and what they were read with: while that does not move nor do they. */
export interface SeenParts extends Parts {
  /** As it was rendered for these. */
  readonly templateHash: string;
  readonly peerVersion: string;
  readonly podVersion: string | undefined;
}

/** Kept for one peer between reconciles. */
export interface Memory extends PendingMemory, Weighed {
  /** Steps that may change nothing. */
  readonly attempts: AttemptLog;
  parts?: Remembered<SeenParts>;
}

export class Deps extends StatefulDeps<Memory> {
  constructor(options: StatefulOptions) {
    const forget = (memory: Memory): void => void delete memory.parts;
    super(options, { make: () => ({ attempts: new Map() }), forget });
  }

  /** Keeps what was read of a peer, as long as all of it together is not too much. */
  remember({ uid, generation }: Peer, parts: SeenParts): void {
    this.memoryOf(uid).parts = { value: parts, generation, atMs: this.clock.nowMs() };
    this.memories.weigh(uid, parts);
  }
}
