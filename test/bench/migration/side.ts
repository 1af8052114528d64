// What a benchmark of migrations compares: somebody who moves the objects of one kind to its
// storage version. It is only told to; what it does is measured from outside, for all alike.
import type { MigrationWorld } from './world.ts';

export interface MigrationSide {
  readonly name: string;
  /** Not measured, before each run: whatever is there already when a migration begins. */
  prepare(world: MigrationWorld): Promise<void>;
  /** Resolves when it is over: objects are rewritten and storedVersions is trimmed. */
  migrate(world: MigrationWorld): Promise<void>;
  /** Not measured: it costs the next side nothing any more. */
  rest(): Promise<void>;
}
