// Carries out what was decided. Each step names the message it replaces, so that a second instance,
// or a second try, changes nothing that it did not see.
import { Failure } from '../../shared/errors.ts';
import { fits } from '../../shared/feed/limits.ts';
import { encodeMessage, isTombstone } from '../../shared/feed/messages.ts';
import type { Publication } from '../../shared/nats/group-commit.ts';
import { holdsObject, type Published, type Step } from './decide.ts';
import type { Session } from './session.ts';

/** NATS takes 1,000 in one batch. */
const BATCH_STEPS_MAX = 900;

/** The sequences that were written, by subject; or that the object does not fit into a message. */
export type Written = ReadonlyMap<string, number> | 'oversize';

/**
 * The steps about one object, all or none. What is too large for one message is not shown at all,
 * and whatever stood there goes: a reader must not take the old for the present.
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

/** A tombstone in the place of everything that still stands about the object. */
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
  // An endpoint slice on very many nodes does not fit into one batch. Its head comes last: until
  // then the next look finds by the old head what there is to do.
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
      session.recent.note(subject, { subject, sequence: first + place, bytes, message });
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

/** Somebody else wrote to the subject between the look and the step. */
export function isConflict(error: unknown): boolean {
  return error instanceof Failure && error.code === 'NATS_CONFLICT';
}
