// Which fields an object loses when it is stored in another version of its CRD without a conversion
// webhook: those that the old schema has and the new one does not, because the API server prunes
// what a schema does not name. Pure.

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}

/** Paths such as `.spec.legacy` and `.spec.parts[].old`; of labels and the like any name is `*`. */
export function lostFields(
  before: Schema | undefined,
  after: Schema | undefined,
): readonly string[] {
  return lost(before ?? {}, after ?? {}, '');
}

function lost(before: Schema, after: Schema, path: string): readonly string[] {
  if (after['x-kubernetes-preserve-unknown-fields'] === true) return [];
  const { properties = {}, items, additionalProperties } = before;
  const named = Object.entries(properties)
    .filter(([name]) => path !== '' || !ALWAYS_KEPT.has(name))
    .flatMap(([name, inner]) => {
      const where = `${path}.${name}`;
      const there = after.properties?.[name] ?? extraOf(after);
      return there === undefined ? [where] : lost(inner, there, where);
    });
  const inList = items === undefined ? [] : lost(items, after.items ?? {}, `${path}[]`);
  return [...named, ...inList, ...lostOfMap(additionalProperties, after, path)];
}

/** The API server keeps these whatever a schema says. */
const ALWAYS_KEPT = new Set(['apiVersion', 'kind', 'metadata']);

function lostOfMap(
  before: Schema | boolean | undefined,
  after: Schema,
  path: string,
): readonly string[] {
  if (before === undefined || before === false) return [];
  const there = extraOf(after);
  if (there === undefined) return [`${path}.*`];
  return before === true ? [] : lost(before, there, `${path}.*`);
}

function extraOf({ additionalProperties }: Schema): Schema | undefined {
  if (additionalProperties === true) return { 'x-kubernetes-preserve-unknown-fields': true };
  return additionalProperties === false ? undefined : additionalProperties;
}

/** Whether an object, as it is read in its old version, has a value at such a path. */
export function hasValueAt(object: unknown, path: string): boolean {
  const steps = path.split(/(?=\[\])|[.]/).filter((step) => step !== '');
  return hasValue(object, steps);
}

function hasValue(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return value !== undefined;
  if (typeof value !== 'object' || value === null) return false;
  const inner: readonly unknown[] =
    step === '[]'
      ? Array.isArray(value)
        ? value
        : []
      : step === '*'
        ? Object.values(value)
        : Object.entries(value).flatMap(([name, one]) => (name === step ? [one] : []));
  return inner.some((one) => hasValue(one, rest));
}
