// Time passes for a stream: its tombstones end, as NATS ends them after their time to live, and the
// floor is where the function would have put it.
import { connect } from 'nats';
import { ANSWER_WITHIN, loginOf } from '../builders/nats-login.ts';
import {
  decodeMessage,
  encodeMessage,
  isTombstone,
  type Floor,
} from '../../shared/feed/messages.ts';
import {
  FLOOR_SUBJECT,
  livePrefix,
  parseSubject,
  storedPrefix,
  streamName,
} from '../../shared/feed/subjects.ts';
import { Stream } from '../../shared/nats/stream.ts';

const TIMEOUT_MS = 10_000;

export async function forgetTombstones(url: string, feed: string): Promise<void> {
  const prefix = storedPrefix(feed);
  const name = streamName(feed);
  const settings = { name, prefix, livePrefix: livePrefix(feed), replicas: 1 } as const;
  const stream = new Stream({ url, name: 'chaos' }, { ...settings, storage: 'file' });
  const nats = await connect(loginOf(url));
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    for await (const { subject, data } of stream.read(`${prefix}.>`, signal)) {
      const message = decodeMessage(data);
      const isObject = parseSubject(subject.slice(prefix.length + 1)) !== undefined;
      if (!isObject || message === undefined || !isTombstone(message)) continue;
      const filter = JSON.stringify({ filter: subject });
      await nats.request(`$JS.API.STREAM.PURGE.${name}`, filter, ANSWER_WITHIN);
    }
    const floor: Floor = { version: (await stream.state(signal)).lastSequence };
    await nats.jetstream().publish(`${prefix}.${FLOOR_SUBJECT}`, encodeMessage(floor));
  } finally {
    await nats.close();
    await stream.close();
  }
}
