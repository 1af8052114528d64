// Applies the steps of a decision. Each step names the sequence that it replaces (compare-and-set),
// so a second instance, or a second try, changes nothing that it did not see.
import { Failure } from '../../shared/errors.ts';
import { fits } from '../../shared/feed/message-size.ts';
import { encodeMessage, isTombstone } from '../../shared/feed/messages.ts';
import type { Publication } from '../../shared/nats/group-commit.ts';
import { holdsObject, type Published, type Step } from './decide.ts';
import type { Session } from './session.ts';

/** NATS takes 1,000 messages in one batch. */
const BATCH_STEPS_MAX = 900;

/** The sequences written, by subject; or `oversize` when the object does not fit into a message. */
export type Written = ReadonlyMap<string, number> | 'oversize';

/**
 * Applies the steps about one object, all or none. An object that is too large for one message is
 * not shown at all, and its older messages end: a reader must not take them for the present.
 */
export async function applySteps(
  session: Session,
  steps: readonly Step[],
  published: readonly Published[],
  signal: AbortSignal,
): Promise<Written> {
  const limitBytes = await session.stream.maxPayloadBytes(signal);
  const messages = publicationsOf(session, steps);
  if (messages.every(({ data }) => fits(data, limitBytes))) {
    return publish(session, steps, messages, signal);
  }
  const removals = withdrawn(steps, published);
  await publish(session, removals, publicationsOf(session, removals), signal);
  return 'oversize';
}

/** Tombstones for every message that still stands about the object. */
function withdrawn(steps: readonly Step[], published: readonly Published[]): readonly Step[] {
  const [first] = steps;
  if (first === undefined) return [];
  const { at, message } = first;
  const { epoch, uid, resourceVersion } = message;
  const tombstone = { deleted: true, epoch, uid, resourceVersion, at } as const;
  return published.filter(holdsObject).map(({ subject, sequence: expectedSequence }) => {
    return { subject, expectedSequence, message: tombstone, at };
  });
}

const publicationsOf = ({ feed }: Session, steps: readonly Step[]): readonly Publication[] =>
  steps.map((step) => publicationOf(step, feed.prefix, feed.spec.retention));

async function publish(
  session: Session,
  steps: readonly Step[],
  messages: readonly Publication[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const written = new Map<string, number>();
  // An endpoint slice on very many nodes does not fit into one batch. Its head comes last: a retry
  // finds the rest of the work by the old head.
  const order = steps.length <= BATCH_STEPS_MAX ? [...steps.keys()] : headLast(steps);
  for (let at = 0; at < order.length; at += BATCH_STEPS_MAX) {
    const part = order.slice(at, at + BATCH_STEPS_MAX);
    const first = await session.stream.publish(
      part.flatMap((index) => messages[index] ?? []),
      signal,
    );
    for (const [place, index] of part.entries()) {
      const step = steps[index];
      if (step === undefined) continue;
      const { subject, message } = step;
      written.set(subject, first + place);
      const bytes = messages[index]?.data.byteLength ?? 0;
      session.publishedCache.note(subject, { subject, sequence: first + place, bytes, message });
    }
  }
  return written;
}

function headLast(steps: readonly Step[]): readonly number[] {
  const isHead = (index: number): boolean => steps[index]?.subject.startsWith('cluster.') ?? false;
  const all = [...steps.keys()];
  return [...all.filter((index) => !isHead(index)), ...all.filter(isHead)];
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

/** Another instance wrote to the subject between the read and the step. */
export function isConflict(error: unknown): boolean {
  return error instanceof Failure && error.code === 'NATS_CONFLICT';
}
