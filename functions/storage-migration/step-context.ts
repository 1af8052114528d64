// The context that every step gets, and the ways in which a step ends: with a new status, or with
// a reconcile from the state as it is then.
import { timestamp } from '../../shared/kube/timestamp.ts';
import type { Deps } from './deps.ts';
import type { Migration } from './migration.ts';
import { type StatusUpdate, blocked } from './status.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { updateStatus } from './write-status.ts';
import type { Target } from './observe.ts';
import type { Pass } from './pass.ts';

export interface StepContext {
  readonly deps: Deps;
  readonly target: Target;
  readonly pass: Pass;
  /** After this time the rest is left to the next request. */
  readonly endsAtMs: number;
  readonly signal: AbortSignal;
}

/** The migration as it stands after the step, and whether there is more to do at once. */
export interface StepResult {
  readonly migration: Migration;
  readonly goesOn: boolean;
}

export type StepHandler = (context: StepContext, migration: Migration) => Promise<StepResult>;

export async function finish(
  { deps, signal }: StepContext,
  migration: Migration,
  update: StatusUpdate,
): Promise<StepResult> {
  const goesOn = update.blocked === undefined;
  return { migration: await updateStatus(deps, migration, update, { goesOn, signal }), goesOn };
}

export const finishBlocked = (
  context: StepContext,
  migration: Migration,
  why: Reason,
): Promise<StepResult> => finish(context, migration, blocked(migration.status, why));

export const nowIsoOf = ({ deps }: StepContext): string => timestamp(deps.clock.nowMs());

/** The step did not end the matter: decide again from what the API server has now. */
export const reconcileAgain = (migration: Migration): StepResult => ({ migration, goesOn: true });
