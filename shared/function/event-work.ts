// The path of one event: sender checked, body read, request admitted, handled, answered.
// All of this runs once per event at full rate, so nothing is loaded, parsed or logged here that a
// successful event does not need.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { quoted } from '../cut.ts';
import { Failure } from '../errors.ts';
import { BODY_BYTES_MAX, assertAnnouncedLength } from './body.ts';
import type { Behaviour, IncomingEvent } from './define.ts';
import { type EventMode, parseEvent } from './event.ts';
import { type ScannedHeaders, asTraceparent } from './headers.ts';
import { eventFields } from './log.ts';
import { sendEvent, sendNothing } from './reply.ts';
import type { Outcome, Runtime } from './runtime.ts';
import { EVERY_TYPE } from './sources.ts';
import { Work } from './work.ts';

const BODY_LIMIT = { sizeBytesMax: BODY_BYTES_MAX };

class EventWork<Deps> extends Work<Deps> {
  event: IncomingEvent | undefined;

  protected override logFields(): Record<string, unknown> {
    if (this.event !== undefined) return eventFields(this.event, this.traceparent);
    return this.traceparent === undefined ? {} : { traceparent: this.traceparent };
  }

  protected override count(outcome: Outcome, tookMs: number): void {
    this.runtime.countEvent(this.event?.type, outcome, tookMs);
  }
}

/** A fault found before the event was parsed: counted, logged and answered like any refusal. */
export function refuseEvent<Deps>(
  runtime: Runtime<Deps>,
  response: ServerResponse,
  thrown: unknown,
): void {
  new EventWork(runtime, response).fail(thrown);
}

/** Never rejects: it ends with an answer, or with a caller that is gone. */
export async function receiveEvent<Deps>(
  runtime: Runtime<Deps>,
  request: IncomingMessage,
  response: ServerResponse,
  headers: ScannedHeaders,
  mode: EventMode,
): Promise<void> {
  const work = new EventWork(runtime, response);
  work.traceparent = headers.traceparent;
  const { admission, intake } = runtime;
  intake.enter(work);
  try {
    const senderCheck = runtime.senders.admit(request);
    if (senderCheck !== undefined) {
      await senderCheck;
      // The sender went away, or the deadline passed, while the token was verified.
      if (work.isAnswered) return;
    }
    assertAnnouncedLength(headers.contentLength, BODY_LIMIT);
    const body = await intake.read(work, request, BODY_LIMIT);
    // A body that arrived too slowly was answered already.
    if (work.isAnswered) return;
    // Admitted only now: a sender that stops half-way through a body must not hold a slot.
    admission.admit(work);
    const weigh = (sizeBytes: number): void => intake.weigh(work, sizeBytes);
    await handle(work, parseEvent(headers, mode, body, weigh), mode);
  } catch (thrown) {
    work.fail(thrown);
  } finally {
    admission.release(work);
    intake.leave(work);
  }
}

async function handle<Deps>(
  work: EventWork<Deps>,
  event: IncomingEvent,
  mode: EventMode,
): Promise<void> {
  const { definition, wakesOn } = work.runtime;
  const isTaken = wakesOn.has(event.type) || wakesOn.has(EVERY_TYPE);
  work.event = event;
  // A broker forwards the extension, and not the header.
  work.traceparent ??= asTraceparent(event['traceparent']);
  if (definition.handle === undefined || !isTaken) {
    throw unknownType(definition, event, mode);
  }
  const reply = await definition.handle(event, work);
  if (reply === undefined) work.succeed('done', () => sendNothing(work.response));
  else {
    const { traceparent } = work;
    work.succeed('replied', () => sendEvent(work.response, reply, { wakesOn, traceparent }));
  }
}

function unknownType(
  { name, wakesOn }: Pick<Behaviour<unknown>, 'name' | 'wakesOn'>,
  event: IncomingEvent,
  mode: EventMode,
): Failure {
  const known = wakesOn.length === 0 ? 'no events' : wakesOn.join(', ');
  const message =
    `The function ${name} wakes on ${known}, not on ${quoted(event.type)}; check the trigger's ` +
    'filter.';
  return new Failure('EVENT_TYPE_UNKNOWN', message, {
    field: mode === 'binary' ? 'ce-type' : 'type',
  });
}
