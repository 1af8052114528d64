// Carries out what was decided. Each step names the message it replaces, so that a second instance,
// or a second try, changes nothing that it did not see.
import { Failure } from '../../shared/errors.ts';
import { type Step, isTombstone } from './decide.ts';
import type { Doors } from './observe.ts';

export interface Outcome {
  readonly published: number;
  readonly tombstones: number;
  /** Somebody else wrote first; what he wrote stands, and the next look sees it. */
  readonly overtaken: number;
}

/** Publishes in flight at once: enough to hide the round trip, few enough to keep memory flat. */
const IN_FLIGHT_MAX = 64;

/** The steps about one object, in their order; the first one that was overtaken ends it. */
export async function takeSteps(
  steps: readonly Step[],
  { stream, prefix, tombstoneSeconds }: Doors,
  signal: AbortSignal,
): Promise<void> {
  for (const { subject, expectedSequence, value } of steps) {
    const data = new TextEncoder().encode(JSON.stringify(value));
    const ttl = isTombstone(value) ? { ttlSeconds: tombstoneSeconds } : {};
    const message = { subject: `${prefix}.${subject}`, data, expectedSequence, ...ttl };
    await stream.publish(message, signal);
  }
}

/**
 * The steps about many objects, several objects at a time. Ends early, between objects, on abort.
 */
export async function takeAllSteps(
  work: readonly (readonly Step[])[],
  doors: Doors,
  signal: AbortSignal,
): Promise<Outcome> {
  const outcome = { published: 0, tombstones: 0, overtaken: 0 };
  const queue = work.values();
  const worker = async (): Promise<void> => {
    for (const steps of queue) {
      signal.throwIfAborted();
      try {
        await takeSteps(steps, doors, signal);
        for (const { value } of steps) {
          outcome[isTombstone(value) ? 'tombstones' : 'published'] += 1;
        }
      } catch (error) {
        if (!isConflict(error)) throw error;
        outcome.overtaken += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT_MAX }, worker));
  return outcome;
}

/** Somebody else wrote to the subject between the look and the step. */
export function isConflict(error: unknown): boolean {
  return error instanceof Failure && error.code === 'NATS_CONFLICT';
}
