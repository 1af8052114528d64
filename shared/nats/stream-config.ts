// The configuration of a feed's stream in JetStream. Pure.

export interface StreamSettings {
  readonly name: string;
  /** Every subject begins with this; the stream stores all of them. */
  readonly prefix: string;
  /** Every stored message is sent on once under this prefix. */
  readonly livePrefix: string;
  readonly replicas: number;
  readonly storage: 'file' | 'memory';
}

/**
 * Each reader that catches up leaves two behind for ten seconds; the server's own limit of 1,000
 * would hold a herd of restarting nodes up, of which 5,000 take up to 10,000. One costs its server
 * 44 kB, and any reader may make all of them.
 */
const CONSUMERS_MAX = 20_000;
/**
 * A reader may ask for a consumer that stays for ever, as often as there is room: none stays that
 * nobody asks. Readers say ten seconds.
 */
const CONSUMER_IDLE_NS_MAX = 60_000_000_000;

export function configOf({ name, prefix, livePrefix, replicas, storage }: StreamSettings) {
  return {
    name,
    subjects: [`${prefix}.>`],
    storage,
    num_replicas: replicas,
    max_msgs_per_subject: 1,
    discard: 'old',
    allow_direct: true,
    allow_msg_ttl: true,
    allow_atomic: true,
    max_consumers: CONSUMERS_MAX,
    consumer_limits: { inactive_threshold: CONSUMER_IDLE_NS_MAX },
    republish: { src: `${prefix}.>`, dest: `${livePrefix}.>` },
  };
}
