// Reads a Trigger's `filter` and `filters` into one tree, and refuses what Knative's webhook would
// refuse.
import type { Fields } from './fields.ts';
import type { Filter, Texts } from './wiring.ts';

const ATTRIBUTE_NAME = /^[a-z][a-z0-9]*$/;
const DIALECTS = ['exact', 'prefix', 'suffix', 'all', 'any', 'not', 'cesql'] as const;

/** `filters` wins when both are given, as in Knative; a trigger with neither gets every event. */
export function readFilter(spec: Fields): Filter {
  const old = spec.optionalObject('filter');
  const attributes = old?.optionalObject('attributes');
  const values = attributes === undefined ? {} : readTexts(attributes);
  old?.end();
  const filters = spec.objects('filters').map(readDialect);
  if (filters.length > 0) return { dialect: 'all', filters };
  return { dialect: 'attributes', values };
}

function readDialect(fields: Fields): Filter {
  const dialects = DIALECTS.filter((name) => fields.has(name));
  const [dialect] = dialects;
  if (dialect === undefined || dialects.length > 1) {
    fields.accept(...DIALECTS).end();
    throw fields.error(dialects.join(', '), `must be exactly one of: ${DIALECTS.join(', ')}`);
  }
  const filter = readOne(fields, dialect);
  fields.end();
  return filter;
}

function readOne(fields: Fields, dialect: (typeof DIALECTS)[number]): Filter {
  switch (dialect) {
    case 'exact':
    case 'prefix':
    case 'suffix':
      return { dialect, values: readValues(fields, dialect) };
    case 'all':
    case 'any': {
      const filters = fields.objects(dialect).map(readDialect);
      if (filters.length === 0) throw fields.error(dialect, 'must hold at least one filter');
      return { dialect, filters };
    }
    case 'not':
      return { dialect, filter: readDialect(fields.object('not')) };
    default:
      throw fields.error(
        'cesql',
        'is a dialect that the embedded control plane does not speak; say it with the other ones',
      );
  }
}

function readValues(fields: Fields, dialect: 'exact' | 'prefix' | 'suffix'): Texts {
  const map = fields.object(dialect);
  const values = readTexts(map);
  if (Object.keys(values).length === 0) throw fields.error(dialect, 'must name an attribute');
  for (const [name, value] of Object.entries(values)) {
    if (value === '') throw map.error(name, 'must not be empty');
  }
  return values;
}

function readTexts(map: Fields): Texts {
  const entries = map.names().map((name) => {
    if (ATTRIBUTE_NAME.test(name)) return [name, map.anyText(name)] as const;
    throw map.error(
      name,
      'must be an attribute name: a lower-case letter, then letters and digits',
    );
  });
  return Object.fromEntries(entries);
}
