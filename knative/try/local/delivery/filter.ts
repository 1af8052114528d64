// Decides whether an event passes a trigger's filter, by the rules of Knative's
// MTChannelBasedBroker.
import type { Filter } from '../manifests/wiring.ts';
import type { Event } from './event.ts';

/** Attributes that every event has for a filter, empty when the sender did not set them. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(['subject', 'dataschema', 'datacontenttype']);

export function passes(filter: Filter, event: Event): boolean {
  switch (filter.dialect) {
    case 'attributes':
      // In this dialect alone the empty text means "any value, but one".
      return every(filter.values, event, (value, wanted) =>
        wanted === '' ? value !== '' : value === wanted,
      );
    case 'exact':
      return every(filter.values, event, (value, wanted) => value === wanted);
    case 'prefix':
      return every(filter.values, event, (value, wanted) => value.startsWith(wanted));
    case 'suffix':
      return every(filter.values, event, (value, wanted) => value.endsWith(wanted));
    case 'all':
      return filter.filters.every((inner) => passes(inner, event));
    case 'any':
      return filter.filters.some((inner) => passes(inner, event));
    default:
      return !passes(filter.filter, event);
  }
}

function every(
  values: Readonly<Record<string, string>>,
  { attributes }: Event,
  matches: (value: string, wanted: string) => boolean,
): boolean {
  return Object.entries(values).every(([name, wanted]) => {
    const value = attributes[name] ?? (ALWAYS_THERE.has(name) ? '' : undefined);
    return value !== undefined && matches(value, wanted);
  });
}
