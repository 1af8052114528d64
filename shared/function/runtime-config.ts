// Settings of every function, with the reason for each default.
import type { ConfigShape } from './config.ts';
import { flag, integer, list, oneOf, secondsAsMs, text } from './parsers.ts';
import { addressRanges } from './senders/addresses.ts';

export interface RuntimeConfig {
  readonly port: number;
  readonly host: string | undefined;
  readonly logLevel: LogLevel;
  readonly deadlineMs: number;
  readonly drainGraceMs: number;
  readonly drainMinimumMs: number;
  readonly concurrencyMax: number;
  readonly service: string | undefined;
  readonly revision: string | undefined;
  readonly senderAudience: string | undefined;
  readonly senderSubjects: readonly string[];
  readonly senderAddresses: readonly string[] | undefined;
  readonly guardsRoutes: boolean;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/**
 * Longer than the 90 s for which Go callers keep an idle connection: the caller closes first, or
 * loses a POST.
 */
export const KEEP_ALIVE_MS = 120_000;
/** Headers come in one packet; whoever needs longer holds a connection open on purpose. */
export const HEADERS_TIMEOUT_MS = 10_000;
/**
 * A connection that has sent nothing: Go opens some in advance and closes them itself after 90 s.
 */
export const PARKED_MS = KEEP_ALIVE_MS;
/** 2 MiB in this time is 70 KB/s, slower than any network a cluster runs on. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Bodies on their way at once: several times what is worked on at once, some KB each. */
export const ARRIVING_MAX = 512;
/** Bodies that arrive or are worked on: hundreds of pods, or eight of the largest. */
export const HELD_BYTES_MAX = 16 * 1024 * 1024;
/**
 * A caller that does not read holds megabytes of an answer in memory. Proxies read at once, and a
 * network that moves nothing for so long is broken.
 */
export const UNREAD_MS = 30_000;
/**
 * Bytes of answers that were not read yet. They are in memory twice until the kernel takes them;
 * the smallest heap has 64 MiB, and the names of 150,000 pods are ten.
 */
export const UNREAD_BYTES_MAX = 16 * 1024 * 1024;
/** A sender that writes first has read its refusal by then. */
export const LINGER_MS = 2_000;
/**
 * Subject, source and the four ApiServerSource extensions need 1 KiB when names are as long as
 * they may be.
 */
export const HEADER_BYTES_MAX = 16 * 1024;
/**
 * A sender that was turned away comes again after this: an instance drains, or works off its
 * queue, in about that.
 */
export const BUSY_RETRY_AFTER_MS = 1_000;
/**
 * The last answers are in the kernel's buffers by now; a caller that does not read them gets no
 * more time.
 */
export const LAST_BYTES_MS = 1_000;
/**
 * `deps` flush and close in it. Grace plus this stays below Kubernetes' 30 s before SIGKILL.
 */
export const CLOSE_DEPS_MS = 5_000;

const subjects = list(text);

export const runtimeShape: ConfigShape<RuntimeConfig> = {
  port: {
    env: 'PORT',
    meaning: 'where to listen (0 takes any free port)',
    parse: integer(0, 65_535),
    fallback: 8_080,
  },
  host: {
    env: 'LISTEN_HOST',
    meaning: 'the only address to listen on; all of them when not set, as Knative needs it',
    parse: text,
    fallback: undefined,
  },
  logLevel: {
    env: 'LOG_LEVEL',
    meaning: 'the least important line that is still written',
    parse: oneOf('debug', 'info', 'warn', 'error', 'silent'),
    fallback: 'info',
  },
  deadlineMs: {
    env: 'REQUEST_DEADLINE_SECONDS',
    meaning: 'when work on one request is given up; keep it below the revision timeoutSeconds',
    parse: secondsAsMs(0.05, 600),
    // One look and one step take a second or two; a source that sends one event at a time waits
    // this long at worst.
    fallback: 30_000,
  },
  drainGraceMs: {
    env: 'DRAIN_GRACE_SECONDS',
    meaning: 'how long requests in flight may take after SIGTERM',
    parse: secondsAsMs(0, 600),
    fallback: 20_000,
  },
  drainMinimumMs: {
    env: 'DRAIN_MINIMUM_SECONDS',
    meaning: 'how long nobody must have come after SIGTERM before the port closes',
    parse: secondsAsMs(0, 600),
    // A request that was sent on a warm connection before its sender knew gets an answer, and a
    // probe that comes every second sees that the instance ends.
    fallback: 1_000,
  },
  concurrencyMax: {
    env: 'CONCURRENCY_LIMIT',
    meaning: 'how many requests are worked on at once; the rest is told to come again',
    parse: integer(1, 10_000),
    // Knative's autoscaler aims at 70 of 100 in flight before it adds an instance.
    fallback: 100,
  },
  service: { env: 'K_SERVICE', meaning: 'the Knative Service', parse: text, fallback: undefined },
  revision: { env: 'K_REVISION', meaning: 'its revision', parse: text, fallback: undefined },
  senderAudience: {
    env: 'SENDER_AUDIENCE',
    meaning: 'the audience that the bearer token of a sender is for; tokens are asked for when set',
    parse: text,
    fallback: undefined,
  },
  senderSubjects: {
    env: 'SENDER_SUBJECTS',
    meaning: 'the subjects that may send, separated by commas; a * at the end stands for any rest',
    parse: subjects,
    fallback: [],
  },
  senderAddresses: {
    env: 'SENDER_ADDRESSES',
    meaning: 'the ranges that events may come from; only this machine when no token is asked for',
    parse: addressRanges,
    fallback: undefined,
  },
  guardsRoutes: {
    env: 'SENDERS_ONLY',
    meaning: 'whether plain HTTP, too, is only for senders; probes and metrics never are',
    parse: flag,
    // Reads change nothing, and people use curl.
    fallback: false,
  },
};
