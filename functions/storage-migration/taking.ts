// What every step is given, and how it ends: with a word in the status, or with another look.
import { timestamp } from '../../shared/kube/timestamp.ts';
import type { Deps } from './deps.ts';
import type { Migration } from './migration.ts';
import { type Saying, type Word, blocked } from './sayings.ts';
import { write } from './say.ts';
import type { Target } from './target.ts';
import type { Walker } from './walk.ts';

export interface StepTask {
  readonly deps: Deps;
  readonly target: Target;
  readonly walker: Walker;
  /** When to leave the rest to the next request. */
  readonly endsAtMs: number;
  readonly signal: AbortSignal;
}

/** The migration as it stands after the step, and whether there is more to do at once. */
export interface Taken {
  readonly migration: Migration;
  readonly goesOn: boolean;
}

export type Work = (task: StepTask, migration: Migration) => Promise<Taken>;

export async function say(
  { deps, signal }: StepTask,
  migration: Migration,
  saying: Saying,
): Promise<Taken> {
  const goesOn = saying.blocked === undefined;
  return { migration: await write(deps, migration, saying, { goesOn, signal }), goesOn };
}

export const sayBlocked = (task: StepTask, migration: Migration, why: Word): Promise<Taken> =>
  say(task, migration, blocked(migration.status, why));

export const nowIsoOf = ({ deps }: StepTask): string => timestamp(deps.clock.nowMs());

/** The API server has moved on; it is read anew. */
export const lookAgain = (migration: Migration): Taken => ({ migration, goesOn: true });
