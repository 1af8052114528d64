// Which fields an object loses when it is stored in another version of its CRD without a conversion
// webhook: the API server prunes what the schema of that version does not name. Pure.

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}

/** The API server keeps these of an object whatever a schema says. */
const ALWAYS_KEPT: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Fields that objects of the one schema may have and the other one drops: paths such as
 * `.spec.legacy` and `.spec.parts[].old`, with `*` where any name may stand.
 */
export function lostFields(
  before: Schema | undefined,
  after: Schema | undefined,
): readonly string[] {
  return lost(before ?? {}, after ?? {}, '');
}

function lost(before: Schema, after: Schema, path: string): readonly string[] {
  const { properties = {}, items } = before;
  const named = Object.entries(properties)
    .filter(([name]) => !isKept(after, path, name))
    .flatMap(([name, inner]) => {
      const there = placeIn(after, name);
      if (there === undefined) return keepsUnknown(after) ? [] : [`${path}.${name}`];
      return lost(inner, there, `${path}.${name}`);
    });
  const inList = items === undefined ? [] : lost(items, after.items ?? {}, `${path}[]`);
  return [...named, ...inList, ...lostOfAnyName(before, after, path)];
}

function lostOfAnyName(before: Schema, after: Schema, path: string): readonly string[] {
  const values = keepsUnknown(before) ? true : (before.additionalProperties ?? false);
  if (values === false || isWhole(after)) return [];
  const there = extraOf(after);
  // A value of any shape is kept whole only where every shape is.
  if (there === undefined) return keepsUnknown(after) ? [] : [`${path}.*`];
  return values === true ? [`${path}.*`] : lost(values, there, `${path}.*`);
}

/** Fields of an object that this schema drops. */
export function fieldsWithout(object: unknown, schema: Schema | undefined): readonly string[] {
  return [...new Set(without(object, schema ?? {}, ''))];
}

function without(value: unknown, schema: Schema, path: string): readonly string[] {
  if (isWhole(schema)) return [];
  if (Array.isArray(value)) {
    return value.flatMap((one) => without(one, schema.items ?? {}, `${path}[]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .filter(([name]) => !isKept(schema, path, name))
    .flatMap(([name, inner]) => {
      const there = placeIn(schema, name);
      if (there === undefined) return keepsUnknown(schema) ? [] : [`${path}.${name}`];
      return without(inner, there, `${path}.${name}`);
    });
}

/** Whether somebody said that this may go; `*` stands for one name, and at the end for any. */
export function isAccepted(path: string, accepted: readonly string[]): boolean {
  const steps = path.split('.');
  return accepted.some((one) => {
    const said = one.split('.');
    const isAnyLonger = said.at(-1) === '*' && steps.length > said.length;
    if (said.length !== steps.length && !isAnyLonger) return false;
    return said.every((step, index) => step === '*' || step === steps[index]);
  });
}

const isKept = (schema: Schema, path: string, name: string): boolean =>
  (path === '' || schema['x-kubernetes-embedded-resource'] === true) && ALWAYS_KEPT.has(name);

const keepsUnknown = (schema: Schema): boolean =>
  schema['x-kubernetes-preserve-unknown-fields'] === true;

/** Everything below is kept, whatever it is. */
const isWhole = (schema: Schema): boolean =>
  keepsUnknown(schema) && schema.properties === undefined && schema.items === undefined;

const placeIn = (schema: Schema, name: string): Schema | undefined =>
  schema.properties?.[name] ?? extraOf(schema);

function extraOf({ additionalProperties }: Schema): Schema | undefined {
  if (additionalProperties === true) return { 'x-kubernetes-preserve-unknown-fields': true };
  return additionalProperties === false ? undefined : additionalProperties;
}
