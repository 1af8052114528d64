// Reads one Knative object of each kind that the embedded control plane plays.
import { Cron } from 'croner';
import type { Fields } from './fields.ts';
import { readLabelSelector } from './label-selector.ts';
import { DEFAULT_DELIVERY, readDelivery, readDestination } from './read-delivery.ts';
import { readFilter } from './read-filter.ts';
import type {
  ApiServerSourceWiring,
  BrokerWiring,
  ObjectName,
  PingWiring,
  Texts,
  TriggerWiring,
  WatchedResource,
} from './wiring.ts';

/** A trigger before it is known what its broker says about delivery. */
export type ReadTrigger = Omit<TriggerWiring, 'delivery'> & Partial<TriggerWiring>;

export function readMetadata(document: Fields): ObjectName {
  const metadata = document.object('metadata').accept('labels', 'annotations');
  const name = { name: metadata.text('name'), namespace: metadata.text('namespace') };
  metadata.end();
  return name;
}

export function readBroker(document: Fields): BrokerWiring {
  const name = readMetadata(document);
  const spec = document.optionalObject('spec');
  const delivery = spec?.optionalObject('delivery');
  spec?.end();
  return {
    file: document.file,
    ...name,
    delivery: delivery === undefined ? DEFAULT_DELIVERY : readDelivery(delivery, name.namespace),
  };
}

export function readTrigger(document: Fields): ReadTrigger {
  const name = readMetadata(document);
  const spec = document.object('spec');
  const delivery = spec.optionalObject('delivery');
  const trigger: ReadTrigger = {
    file: document.file,
    ...name,
    broker: spec.text('broker'),
    filter: readFilter(spec),
    subscriber: readDestination(spec.object('subscriber'), name.namespace),
    ...(delivery === undefined ? {} : { delivery: readDelivery(delivery, name.namespace) }),
  };
  spec.end();
  return trigger;
}

export function readApiServerSource(document: Fields): ApiServerSourceWiring {
  const name = readMetadata(document);
  const spec = document.object('spec');
  const resources = spec.objects('resources').map(readResource);
  if (resources.length === 0) throw spec.error('resources', 'must name at least one kind');
  const owner = spec.optionalObject('owner');
  const source: ApiServerSourceWiring = {
    file: document.file,
    ...name,
    mode: spec.has('mode') ? spec.oneOf('mode', ['Reference', 'Resource']) : 'Reference',
    resources,
    ...readNamespaces(spec, name.namespace),
    ...(owner === undefined
      ? {}
      : { owner: { apiVersion: owner.text('apiVersion'), kind: owner.text('kind') } }),
    extensions: readOverrides(spec),
    serviceAccountName: spec.optionalText('serviceAccountName') ?? 'default',
    sink: readDestination(spec.object('sink'), name.namespace),
  };
  owner?.end();
  spec.end();
  return source;
}

function readResource(fields: Fields): WatchedResource {
  const selector = fields.optionalObject('selector');
  const resource = {
    apiVersion: fields.text('apiVersion'),
    kind: fields.text('kind'),
    labelSelector: selector === undefined ? '' : readLabelSelector(selector),
  };
  fields.end();
  return resource;
}

function readNamespaces(spec: Fields, own: string): { readonly namespaces?: readonly string[] } {
  const selector = spec.optionalObject('namespaceSelector');
  if (selector === undefined) return { namespaces: [own] };
  if (readLabelSelector(selector) === '') return {};
  throw spec.error(
    'namespaceSelector',
    'selects by label, which needs the controller of Knative; {} selects every namespace',
  );
}

export function readPing(document: Fields): PingWiring {
  const name = readMetadata(document);
  const spec = document.object('spec');
  const timezone = spec.optionalText('timezone');
  const contentType = spec.optionalText('contentType');
  if (spec.has('data') && spec.has('dataBase64')) {
    throw spec.error('dataBase64', 'and data exclude each other');
  }
  const ping: PingWiring = {
    file: document.file,
    ...name,
    schedule: readSchedule(spec, timezone),
    ...(timezone === undefined ? {} : { timezone }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(spec.has('data') ? { data: { text: spec.text('data') } } : {}),
    ...(spec.has('dataBase64') ? { data: { base64: spec.text('dataBase64') } } : {}),
    extensions: readOverrides(spec),
    sink: readDestination(spec.object('sink'), name.namespace),
  };
  spec.end();
  return ping;
}

function readSchedule(spec: Fields, timezone: string | undefined): string {
  const schedule = spec.text('schedule');
  try {
    const cron = new Cron(schedule, {
      paused: true,
      ...(timezone === undefined ? {} : { timezone }),
    });
    // The time zone is only looked at when a date is asked for.
    if (cron.nextRun() !== null) return schedule;
  } catch (cause) {
    throw spec.error(
      'schedule',
      `cannot be read as a cron schedule (time zone ${timezone})`,
      cause,
    );
  }
  throw spec.error('schedule', 'never comes round');
}

function readOverrides(spec: Fields): Texts {
  const overrides = spec.optionalObject('ceOverrides');
  const extensions = overrides?.textMap('extensions') ?? {};
  for (const name of Object.keys(extensions)) {
    if (/^[a-z0-9]+$/.test(name)) continue;
    throw spec.error(`ceOverrides.extensions.${name}`, 'must be lower-case letters and digits');
  }
  overrides?.end();
  return extensions;
}
