// Carries out what was decided. Each step names the message it replaces, so that a second instance,
// or a second try, changes nothing that it did not see.
import { fits } from '../../shared/feed/limits.ts';
import { encodeMessage, isTombstone } from '../../shared/feed/messages.ts';
import { Failure } from '../../shared/errors.ts';
import type { Publication } from '../../shared/nats/stream.ts';
import type { Step } from './decide.ts';
import type { Session } from './session.ts';

export type Taken = 'published' | 'oversize';

/**
 * The steps about one object, all or none. What is too large for one message is not shown at all,
 * and whatever stood there goes: a reader must not take the old for the present.
 */
export async function takeSteps(
  session: Session,
  steps: readonly Step[],
  signal: AbortSignal,
): Promise<Taken> {
  const { feed, stream } = session;
  const limitBytes = await stream.maxPayloadBytes(signal);
  const messages = steps.map((step) => publicationOf(step, feed.prefix, feed.spec.retention));
  const large = messages.filter(({ data }) => !fits(data, limitBytes));
  if (large.length === 0) {
    const first = await stream.publish(messages, signal);
    for (const [index, { subject, message }] of steps.entries()) {
      session.recent.note(subject, { subject, sequence: first + index, message });
    }
    return 'published';
  }
  session.recent.clear();
  const instead = steps.flatMap((step) => withdrawn(step));
  if (instead.length > 0) {
    const removals = instead.map((step) => publicationOf(step, feed.prefix, feed.spec.retention));
    await stream.publish(removals, signal);
  }
  return 'oversize';
}

/** A tombstone in the place of what cannot be shown; nothing where nothing stands. */
function withdrawn({ subject, expectedSequence, message }: Step): readonly Step[] {
  if (isTombstone(message)) return [{ subject, expectedSequence, message }];
  if (expectedSequence === 0) return [];
  const { epoch, uid, resourceVersion, created = '' } = message;
  const tombstone = { deleted: true, epoch, uid, resourceVersion, at: created } as const;
  return [{ subject, expectedSequence, message: tombstone }];
}

function publicationOf(
  { subject, expectedSequence, message }: Step,
  prefix: string,
  { tombstoneSeconds }: { readonly tombstoneSeconds: number },
): Publication {
  return {
    subject: `${prefix}.${subject}`,
    data: encodeMessage(message),
    expectedSequence,
    ...(isTombstone(message) ? { ttlSeconds: tombstoneSeconds } : {}),
  };
}

/** Somebody else wrote to the subject between the look and the step. */
export function isConflict(error: unknown): boolean {
  return error instanceof Failure && error.code === 'NATS_CONFLICT';
}
