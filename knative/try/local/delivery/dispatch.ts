// Brings one event to one trigger's subscriber: tries, waits, tries again, sends a reply back to
// the broker and what cannot be delivered to the dead letter sink, as Knative's
// MTChannelBasedBroker does with an in-memory channel.
import type { Clock } from '../../../../shared/clock.ts';
import { type Destination, type TriggerWiring, keyOf } from '../manifests/wiring.ts';
import { type Deliver, type IngressStatus, type Letter, TTL } from './broker.ts';
import { type DeliveryConfig, urlOf } from './config.ts';
import {
  type Event,
  readEvent,
  withAttributes,
  withoutAttribute,
  writeBinary,
  writeStructured,
} from './event.ts';
import { passThrough } from './headers.ts';
import { Lanes } from './lanes.ts';
import { ANSWER_TIMEOUT_MS, ERROR_DATA_CHARS_MAX, IN_FLIGHT_MAX } from './limits.ts';
import type { Poster } from './post.ts';
import { type Attempt, brokerRules, isSuccess, sendWithRetries } from './retry.ts';
import type { StatsBook } from './stats.ts';

export interface DispatcherOptions {
  readonly config: DeliveryConfig;
  readonly brokerUrl: string;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly stats: StatsBook;
  /** Ends the waits between tries. */
  readonly signal: AbortSignal;
  /** How a reply gets into the broker. */
  readonly accept: (brokerKey: string, letter: Letter) => IngressStatus;
}

interface Answer {
  readonly attempt: Attempt;
  readonly reply?: Event;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #lanes: Lanes;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const limits = new Map(
      Object.values(options.config.services).map(({ url, containerConcurrency: limit }) => [
        new URL(url).origin,
        limit === 0 ? IN_FLIGHT_MAX : limit,
      ]),
    );
    this.#lanes = new Lanes((origin) => limits.get(origin) ?? IN_FLIGHT_MAX);
  }

  readonly deliver: Deliver = async (trigger, letter) => {
    const counts = this.#options.stats.trigger(keyOf(trigger));
    const { attempt, reply } = await this.#toSubscriber(trigger, letter);
    if (!isSuccess(attempt)) {
      return this.#giveUp(trigger, letter, attempt, this.#url(trigger.subscriber));
    }
    counts.delivered += 1;
    if (reply === undefined) return;
    const refusal = await this.#toBroker(trigger, letter, attempt, reply);
    if (refusal === undefined) counts.replies += 1;
    else await this.#giveUp(trigger, letter, refusal, this.#brokerUrl(trigger));
  };

  async #toSubscriber(trigger: TriggerWiring, letter: Letter): Promise<Answer> {
    const url = this.#url(trigger.subscriber);
    const event = withoutAttribute(letter.event, TTL);
    const message =
      trigger.delivery.format === 'json' ? writeStructured(event) : writeBinary(event);
    const own = { 'kn-namespace': trigger.namespace, prefer: 'reply' };
    const headers = { ...letter.headers, ...message.headers, ...own };
    const timeoutMs = trigger.delivery.timeoutMs ?? this.#timeoutMs(trigger.subscriber);
    let reply: Event | undefined;
    const attempt = await this.#withRetries(trigger, async () => {
      const { poster } = this.#options;
      const answer = withReply(
        await this.#lanes.run(new URL(url).origin, () =>
          poster.post(url, { ...message, headers }, timeoutMs),
        ),
      );
      reply = answer.reply;
      return answer.attempt;
    });
    return { attempt, ...(reply === undefined ? {} : { reply }) };
  }

  /** Undefined when the broker took the reply. */
  async #toBroker(
    trigger: TriggerWiring,
    letter: Letter,
    { rawHeaders }: Attempt,
    reply: Event,
  ): Promise<Attempt | undefined> {
    const hops = letter.event.attributes[TTL] ?? '';
    const event = withAttributes(reply, { [TTL]: hops });
    const { accept } = this.#options;
    const key = `${trigger.namespace}/${trigger.broker}`;
    const headers = passThrough(rawHeaders);
    const attempt = await this.#withRetries(trigger, async () => {
      const status = accept(key, { event, headers });
      const problem =
        status === 202 ? {} : { problem: `the broker answered ${status} to the reply` };
      return { status, rawHeaders: [], body: Buffer.alloc(0), ...problem };
    });
    return isSuccess(attempt) ? undefined : attempt;
  }

  async #giveUp(
    trigger: TriggerWiring,
    letter: Letter,
    failed: Attempt,
    failedUrl: string,
  ): Promise<void> {
    const { stats, poster } = this.#options;
    const counts = stats.trigger(keyOf(trigger));
    counts.failed += 1;
    stats.error(keyOf(trigger), `${describe(letter.event)} to ${failedUrl}: ${why(failed)}`);
    const sink = trigger.delivery.deadLetterSink;
    if (sink === undefined) return;
    const url = this.#url(sink);
    const message = writeBinary(withAttributes(letter.event, errorAttributes(failed, failedUrl)));
    const headers = { ...letter.headers, ...message.headers, prefer: 'reply' };
    const attempt = await this.#withRetries(trigger, () =>
      this.#lanes.run(new URL(url).origin, () =>
        poster.post(url, { ...message, headers }, this.#timeoutMs(sink)),
      ),
    );
    if (isSuccess(attempt)) counts.deadLettered += 1;
    else
      stats.error(
        keyOf(trigger),
        `${describe(letter.event)} to dead letter sink ${url}: ${why(attempt)}`,
      );
  }

  async #withRetries(trigger: TriggerWiring, send: () => Promise<Attempt>): Promise<Attempt> {
    const { clock, signal, stats } = this.#options;
    const counts = stats.trigger(keyOf(trigger));
    const counted = async (): Promise<Attempt> => {
      const attempt = await send();
      if (!isSuccess(attempt)) {
        counts.failedTries[attempt.status] = (counts.failedTries[attempt.status] ?? 0) + 1;
      }
      return attempt;
    };
    const onRetry = (): void => void (counts.retries += 1);
    return sendWithRetries(counted, brokerRules(trigger.delivery), { clock, signal, onRetry });
  }

  #url(destination: Destination): string {
    const { brokerUrl, config } = this.#options;
    return urlOf(destination, { brokerUrl, services: config.services });
  }

  #brokerUrl({ namespace, broker }: TriggerWiring): string {
    return this.#url({ kind: 'Broker', namespace, name: broker });
  }

  /** The queue-proxy's timeout for a function that does not answer. */
  #timeoutMs(destination: Destination): number {
    if (destination.kind !== 'Service') return ANSWER_TIMEOUT_MS;
    const service = this.#options.config.services[keyOf(destination)];
    return service === undefined ? ANSWER_TIMEOUT_MS : service.timeoutSeconds * 1_000;
  }
}

/** A subscriber answers nothing, or an event. Everything else makes the delivery a failed one. */
function withReply(attempt: Attempt): Answer {
  if (!isSuccess(attempt)) return { attempt };
  const bad = (problem: string): Answer => ({ attempt: { ...attempt, status: 502, problem } });
  try {
    const reply = readEvent(attempt.rawHeaders, attempt.body);
    if (reply !== undefined) return { attempt, reply };
  } catch (error) {
    return bad(`the reply is not a valid event: ${String(error)}`);
  }
  if (attempt.body.length === 0) return { attempt };
  return bad(`a body that is no event came with status ${attempt.status}; answer 204 or one event`);
}

function errorAttributes({ status, body }: Attempt, url: string): Record<string, string> {
  const data = body.toString('base64').slice(0, ERROR_DATA_CHARS_MAX);
  return {
    knativeerrordest: url,
    // Knative says 500 where nobody answered.
    knativeerrorcode: String(status === 0 ? 500 : status),
    ...(data === '' ? {} : { knativeerrordata: data }),
  };
}

const why = ({ status, problem }: Attempt): string => problem ?? `answered ${status}`;
const describe = ({ attributes }: Event): string =>
  `${attributes['type']} ${attributes['subject'] ?? attributes['id']}`;
