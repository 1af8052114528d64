// Reads the pieces that brokers, triggers and sources share: destinations and delivery specs.
import { durationMs } from './duration.ts';
import type { Fields } from './fields.ts';
import type { DeliverySpec, Destination } from './wiring.ts';

/** Defaults of a broker without a delivery spec, as in Knative's config-br-defaults. */
export const DEFAULT_DELIVERY: DeliverySpec = {
  retries: 10,
  backoff: { policy: 'exponential', delayMs: 200 },
};

const API_VERSIONS = { Broker: 'eventing.knative.dev/v1', Service: 'serving.knative.dev/v1' };

/**
 * `namespace` is the one of the object that says it: a reference without a namespace stays in it.
 */
export function readDestination(fields: Fields, namespace: string): Destination {
  const ref = fields.optionalObject('ref');
  const uri = fields.optionalText('uri');
  fields.end();
  if (ref === undefined) {
    if (uri === undefined) throw fields.error('ref', 'or uri must say where events go');
    if (URL.parse(uri)?.protocol !== 'http:') throw fields.error('uri', 'must be an http:// URL');
    return { kind: 'uri', uri };
  }
  const kind = ref.oneOf('kind', ['Broker', 'Service']);
  const apiVersion = ref.text('apiVersion');
  if (apiVersion !== API_VERSIONS[kind]) {
    throw ref.error('apiVersion', `must be ${API_VERSIONS[kind]} for a ${kind}`);
  }
  const destination = {
    kind,
    name: ref.text('name'),
    namespace: ref.optionalText('namespace') ?? namespace,
  };
  ref.end();
  if (uri === undefined) return destination;
  if (!uri.startsWith('/')) throw fields.error('uri', 'beside a ref must be a path from the root');
  return { ...destination, path: uri };
}

export function readDelivery(fields: Fields, namespace: string): DeliverySpec {
  const sink = fields.optionalObject('deadLetterSink');
  const delay = fields.has('backoffDelay') ? readDuration(fields, 'backoffDelay') : undefined;
  const policy = fields.has('backoffPolicy')
    ? fields.oneOf('backoffPolicy', ['exponential', 'linear'])
    : undefined;
  if ((policy === undefined) !== (delay === undefined)) {
    throw fields.error('backoffPolicy', 'and backoffDelay only mean something together');
  }
  const timeoutMs = fields.has('timeout') ? readDuration(fields, 'timeout') : undefined;
  if (timeoutMs === 0) throw fields.error('timeout', 'must be longer than nothing');
  const format = fields.has('format') ? fields.oneOf('format', ['json', 'binary']) : undefined;
  const retries = fields.has('retry') ? fields.wholeNumber('retry') : 0;
  fields.end();
  return {
    retries,
    ...(policy === undefined || delay === undefined ? {} : { backoff: { policy, delayMs: delay } }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(sink === undefined ? {} : { deadLetterSink: readDestination(sink, namespace) }),
    ...(format === undefined ? {} : { format }),
  };
}

function readDuration(fields: Fields, name: string): number {
  const value = durationMs(fields.text(name));
  if (value !== undefined) return value;
  throw fields.error(name, 'must be an ISO 8601 duration of days or less, such as PT0.5S');
}
