// Bounds of the broker process' memory, and waits that no manifest states.

/** Twice what a function takes: a limit that is met here would hide the function's own. */
export const EVENT_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Deliveries that are on their way or wait for a retry. One pod burst of a thousand nodes stays far
 * below.
 */
export const PENDING_MAX = 20_000;
/**
 * Their data. Forty of the largest objects, or a full house of Reference events with room to spare.
 */
export const PENDING_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Requests at a time to a subscriber that states no containerConcurrency: the connections that
 * Knative keeps idle.
 */
export const IN_FLIGHT_MAX = 100;
/**
 * A sink that is no Knative Service states no timeout; this is Serving's default for those that
 * are.
 */
export const ANSWER_TIMEOUT_MS = 300_000;
/** How often an event may come back as a reply before it is taken for a loop. */
export const REPLY_HOPS_MAX = 255;
/** Knative's own limit for the answer that a dead letter carries, after base64. */
export const ERROR_DATA_CHARS_MAX = 1024;
/** Error messages that the statistics keep. */
export const LAST_ERRORS_MAX = 20;
/** Different types and kinds that are counted apart; senders must not make up ever more of them. */
export const COUNTED_TYPES_MAX = 500;
