// JSON lines on stdout: a constant message and fields. Written synchronously, so that the last
// line of a process that ends is never lost; an event that went well writes nothing above debug,
// so that this costs nothing per event.
import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
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
      serializers: { err: stdSerializers.errWithCause },
    },
    options.to ?? pino.destination({ dest: 1, sync: true }),
  );
}

/**
 * ApiServerSource's subject: `/apis/apps/v1/namespaces/web/deployments/frontend`, the namespace
 * empty for cluster scope.
 */
const SUBJECT = /^\/apis\/.+\/namespaces\/([^/]*)\/([^/]+)\/([^/]+)$/;

/** `pods web/frontend-1`; undefined when the event is not about an object. */
function objectKeyOf(event: IncomingEvent): string | undefined {
  const [, namespace, resource, name] = SUBJECT.exec(event.subject ?? '') ?? [];
  if (name === undefined) return undefined;
  return namespace === '' ? `${resource} ${name}` : `${resource} ${namespace}/${name}`;
}

/** What a line about this event carries; never its data. */
export function eventFields(
  event: IncomingEvent,
  traceparent: string | undefined,
): Record<string, unknown> {
  const object = objectKeyOf(event);
  return {
    event: { id: event.id, type: event.type, source: event.source, subject: event.subject },
    ...(object === undefined ? {} : { object }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** What a line about this failure carries. */
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
