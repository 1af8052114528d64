// The road of one event: its sender admitted, its body read, its place taken, handled, answered.
// Everything on it runs once per event at full rate, so nothing here is loaded, parsed or logged
// that an event which goes well does not need.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { quoted } from '../cut.ts';
import { Failure } from '../errors.ts';
import { assertAnnouncedLength } from './body.ts';
import type { Behaviour, IncomingEvent } from './define.ts';
import { type EventMode, parseEvent } from './event.ts';
import { type ScannedHeaders, asTraceparent } from './headers.ts';
import { eventFields } from './log.ts';
import { sendEvent, sendNothing } from './reply.ts';
import { BODY_BYTES_MAX } from './runtime-config.ts';
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

/**
 * For what is wrong before there is an event: counted, logged and answered like every other
 * refusal.
 */
export function refuseEvent<Deps>(
  runtime: Runtime<Deps>,
  response: ServerResponse,
  thrown: unknown,
): void {
  new EventWork(runtime, response).fail(thrown);
}

/** Never rejects: every way it can go ends in an answer or in a caller that is gone. */
export async function receiveEvent<Deps>(
  runtime: Runtime<Deps>,
  request: IncomingMessage,
  response: ServerResponse,
  headers: ScannedHeaders,
  mode: EventMode,
): Promise<void> {
  const work = new EventWork(runtime, response);
  work.traceparent = headers.traceparent;
  const { gate, intake } = runtime;
  intake.enter(work);
  try {
    const admission = runtime.senders.admit(request);
    if (admission !== undefined) {
      await admission;
      // Its sender went away, or its time was over, while the token was looked at.
      if (work.isAnswered) return;
    }
    assertAnnouncedLength(headers.contentLength, BODY_LIMIT);
    const body = await intake.read(work, request, BODY_LIMIT);
    // A body that dribbled in for too long has its answer already.
    if (work.isAnswered) return;
    // Not before: who sends half a body takes nobody's place.
    gate.enter(work);
    const weigh = (sizeBytes: number): void => intake.weigh(work, sizeBytes);
    await handle(work, parseEvent(headers, mode, body, weigh), mode);
  } catch (thrown) {
    work.fail(thrown);
  } finally {
    gate.leave(work);
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
