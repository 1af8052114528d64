// Any object that a schema lets in, with what its rules would refuse as well: made from the schema
// itself, so that a new field is tried as soon as it is there.
import fc from 'fast-check';
import type { Fields } from '../../shared/kube/own-kinds/part.ts';
import { parseLossless } from '../../shared/kube/json.ts';
import { anyText } from './any-text.ts';
import type { Schema } from './own-kinds.ts';

/** Texts that mean something in our kinds, and some that look like them. */
const TEXTS = ['1h', '60m', '8h', '90m', '99999h', '00m', '1s', '10000', '0', 'key', 'main', ''];
/** Around units and their limits. */
const NUMBERS = [0, 1, 59, 60, 90, 3_600, 5_400, 86_400, 5_999_940, 6_000_000, 9_999_999_999];
const FIELDS_MAX = 4;

export interface ObjectOptions {
  /** Names of fields that an object may have beside those of its schema. */
  readonly others?: readonly string[];
}

export function objectsOf(
  kind: string,
  apiVersion: string,
  schema: Schema,
  options: ObjectOptions = {},
): fc.Arbitrary<Fields> {
  const { spec = {}, status = {} } = schema.properties ?? {};
  const annotations = fc.dictionary(
    fc.constantFrom('a', 'example.com/b'),
    fc.constantFrom('', '{"parts":{}}', 'text'),
    { minKeys: 1, maxKeys: 2 },
  );
  const metadata = fc.record(
    { name: fc.constant('one'), namespace: fc.constant('default'), annotations },
    { requiredKeys: ['name', 'namespace'] },
  );
  const objects = fc.record(
    {
      apiVersion: fc.constant(apiVersion),
      kind: fc.constant(kind),
      metadata,
      spec: valuesOf(spec, options),
      status: valuesOf(status, options),
    },
    { requiredKeys: ['apiVersion', 'kind', 'metadata', 'spec'] },
  );
  // Some of fast-check's have no prototype, which nothing that comes as JSON is without.
  return objects.map((object) => parseLossless(JSON.stringify(object)) as Fields);
}

function valuesOf(schema: Schema, options: ObjectOptions): fc.Arbitrary<unknown> {
  const { type, minimum = -1_000, maximum = 2 ** 53 - 1 } = schema;
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') {
    const known = NUMBERS.filter((one) => one >= minimum && one <= maximum);
    const any = fc.integer({ min: Math.max(minimum, -1_000), max: Math.min(maximum, 2 ** 31) });
    return known.length === 0 ? any : fc.oneof(any, fc.constantFrom(...known));
  }
  if (type === 'string') return textsOf(schema);
  if (type === 'array') return listsOf(schema, options);
  return recordsOf(schema, options);
}

function textsOf({ maxLength = 100, format }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time')
    return fc.constantFrom('2026-01-02T03:04:05Z', '2027-01-01T00:00:00Z');
  const known = fc.constantFrom(...TEXTS.filter((text) => text.length <= maxLength));
  const any = anyText().map((text) => text.slice(0, maxLength).toWellFormed());
  return fc.oneof({ weight: 3, arbitrary: known }, { weight: 1, arbitrary: any });
}

function listsOf(schema: Schema, options: ObjectOptions): fc.Arbitrary<unknown[]> {
  const { items = {}, minItems = 0, maxItems = 3 } = schema;
  const keys = schema['x-kubernetes-list-map-keys'];
  const bounds = { minLength: minItems, maxLength: Math.min(maxItems, 3) };
  const item = valuesOf(items, options);
  if (keys === undefined) return fc.array(item, bounds);
  const selector = (one: unknown): string =>
    JSON.stringify(keys.map((key) => (one as Fields)[key]));
  return fc.uniqueArray(item, { ...bounds, selector });
}

function recordsOf(schema: Schema, options: ObjectOptions): fc.Arbitrary<Fields> {
  const { properties = {}, required = [], additionalProperties } = schema;
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return embedded;
  if (additionalProperties !== undefined) {
    const values = valuesOf(additionalProperties, options);
    return fc.dictionary(fc.constantFrom('app', 'tier'), values, { maxKeys: 2 });
  }
  const others = (options.others ?? []).filter((name) => !Object.hasOwn(properties, name));
  const known = Object.entries(properties).map(([name, one]) => [name, valuesOf(one, options)]);
  const record = fc.record(Object.fromEntries(known), { requiredKeys: required as never[] });
  if (others.length === 0) return record;
  const strange = fc.dictionary(fc.constantFrom(...others), fc.jsonValue({ maxDepth: 1 }), {
    maxKeys: FIELDS_MAX,
  });
  return fc.tuple(record, strange).map(([one, more]) => ({ ...one, ...more }));
}

/** The spec of an EtcdCluster that is in another object, of which no schema knows anything. */
const embedded: fc.Arbitrary<Fields> = fc.record(
  {
    replicas: fc.constantFrom(3, '3'),
    compaction: fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.record(
        {
          mode: fc.constantFrom('Periodic', 'Revision', 'None', 'Other'),
          retention: fc.constantFrom(...TEXTS),
          retentionSeconds: fc.constantFrom(...NUMBERS, '60'),
          retentionRevisions: fc.constantFrom(...NUMBERS),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
);
