// JSON lines on stdout: a constant message and fields. Written synchronously, so that the last
// line of a process that ends is never lost; an event that went well writes nothing above debug,
// so that this costs nothing per event.
import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { cut, quoted } from '../cut.ts';
import type { Failure } from '../errors.ts';
import type { IncomingEvent } from './define.ts';
import type { LogLevel } from './runtime-config.ts';

export interface LogOptions {
  readonly level: LogLevel;
  readonly function: string;
  readonly revision: string | undefined;
  /** Standard output when absent. */
  readonly to?: DestinationStream;
}

export function createLog(options: LogOptions): Logger {
  const { level, function: name, revision } = options;
  return pino(
    {
      level,
      base: { function: name, ...(revision === undefined ? {} : { revision }) },
      messageKey: 'message',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: shortened },
    },
    options.to ?? pino.destination({ dest: 1, sync: true }),
  );
}

/** A stack and what it says; whoever made it may have quoted all that he was given. */
const ERROR_TEXT_BYTES_MAX = 8 * 1024;

const shortened = (error: Error): unknown => withShortTexts(stdSerializers.errWithCause(error));

/**
 * Other properties of an error may refer to the error itself, so only those that hold errors are
 * followed.
 */
function withShortTexts(error: object): unknown {
  const shorten = ([name, value]: [string, unknown]): [string, unknown] => {
    if (typeof value === 'string') return [name, cut(value, ERROR_TEXT_BYTES_MAX)];
    if (name === 'cause' && typeof value === 'object' && value !== null) {
      return [name, withShortTexts(value)];
    }
    if (name !== 'aggregateErrors' || !Array.isArray(value)) return [name, value];
    return [name, value.map((one: object) => withShortTexts(one))];
  };
  return Object.fromEntries(Object.entries(error).map(shorten));
}

/**
 * ApiServerSource's subject: `/apis/apps/v1/namespaces/web/deployments/frontend`, the namespace
 * empty for cluster scope.
 */
const SUBJECT = /^\/apis\/.+\/namespaces\/([^/]*)\/([^/]+)\/([^/]+)$/;

/** The longest names of a namespace, a resource and an object stay below. */
const SUBJECT_BYTES_MAX = 1_024;

/** `pods web/frontend-1`; undefined when the event is not about an object. */
function objectKeyOf(event: IncomingEvent): string | undefined {
  const [, namespace, resource, name] = SUBJECT.exec(event.subject ?? '') ?? [];
  if (name === undefined) return undefined;
  return namespace === '' ? `${resource} ${name}` : `${resource} ${namespace}/${name}`;
}

/** Fields of a log line about this event; never its data. */
export function eventFields(
  event: IncomingEvent,
  traceparent: string | undefined,
): Record<string, unknown> {
  const { id, type, source, subject } = event;
  const object = objectKeyOf(event);
  return {
    event: {
      id: quoted(id),
      type: quoted(type),
      source: quoted(source),
      subject: subject && cut(subject, SUBJECT_BYTES_MAX),
    },
    ...(object === undefined ? {} : { object: cut(object, SUBJECT_BYTES_MAX) }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** Fields of a log line about this failure. */
export function failureFields(failure: Failure): Record<string, unknown> {
  const { code, kind, field, object, retryAfterMs } = failure;
  return {
    code,
    kind,
    ...(field === undefined ? {} : { field }),
    ...(object === undefined ? {} : { object }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    detail: failure.message,
    // A stack says where we refuse things; only a bug, or somebody else's error, is worth reading
    // one for.
    ...(kind === 'bug' || failure.cause !== undefined ? { err: failure } : {}),
  };
}
