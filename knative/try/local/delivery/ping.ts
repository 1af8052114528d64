// Plays PingSource: an event each time a cron schedule comes round, sent by the rules of Knative's
// sources.
import { randomUUID } from 'node:crypto';
import { Cron } from 'croner';
import type { Clock } from '../../../../shared/clock.ts';
import { SWEEP } from '../../../../shared/function/sources.ts';
import { type PingWiring, keyOf } from '../manifests/wiring.ts';
import { type Addresses, urlOf } from './config.ts';
import { type Event, writeBinary } from './event.ts';
import { ANSWER_TIMEOUT_MS } from './limits.ts';
import type { Poster } from './post.ts';
import { isSuccess, sendWithRetries, sourceRules } from './retry.ts';
import type { StatsBook } from './stats.ts';

export interface PingOptions {
  readonly addresses: Addresses;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly stats: StatsBook;
  readonly signal: AbortSignal;
}

/** Runs until the signal aborts. */
export function startPing(ping: PingWiring, options: PingOptions): void {
  const { schedule, timezone } = ping;
  const cron = new Cron(schedule, timezone === undefined ? {} : { timezone }, () =>
    sendPing(ping, options),
  );
  options.signal.addEventListener('abort', () => cron.stop(), { once: true });
}

async function sendPing(ping: PingWiring, options: PingOptions): Promise<void> {
  const { addresses, poster, clock, stats, signal } = options;
  const url = urlOf(ping.sink, addresses);
  const message = writeBinary(pingEvent(ping, randomUUID(), clock.nowMs()));
  const headers = { ...message.headers, 'kn-namespace': ping.namespace };
  const counts = stats.ping(keyOf(ping));
  try {
    const attempt = await sendWithRetries(
      () => poster.post(url, { ...message, headers }, ANSWER_TIMEOUT_MS),
      sourceRules,
      { clock, signal, onRetry: () => undefined },
    );
    if (isSuccess(attempt)) {
      counts.sent += 1;
      return;
    }
    counts.failed += 1;
    stats.error(
      keyOf(ping),
      `the tick is lost: ${attempt.problem ?? `answered ${attempt.status}`}`,
    );
  } catch (error) {
    // The process ends while the tick waits for its next try.
    if (!signal.aborted) throw error;
  }
}

export function pingEvent(ping: PingWiring, id: string, nowMs: number): Event {
  const { namespace, name, extensions, contentType, data } = ping;
  const attributes = {
    specversion: '1.0',
    type: SWEEP,
    source: `/apis/v1/namespaces/${namespace}/pingsources/${name}`,
    id,
    time: new Date(nowMs).toISOString(),
    ...(contentType === undefined || data === undefined ? {} : { datacontenttype: contentType }),
    ...extensions,
  };
  return { attributes, data: bytesOf(data) };
}

function bytesOf(data: PingWiring['data']): Buffer {
  if (data === undefined) return Buffer.alloc(0);
  return 'text' in data ? Buffer.from(data.text) : Buffer.from(data.base64, 'base64');
}
