// Readers of JSON that nobody has checked: what is not of the type that was asked for counts as
// absent, so that no object, however odd, makes a projection fail or carries something past it.

type Fields = Readonly<Record<string, unknown>>;

const NOTHING: Fields = {};
const NONE: readonly unknown[] = [];

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const fieldsIn = (value: unknown): Fields => (isFields(value) ? value : NOTHING);

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NONE);

/** The empty text says nothing, as it does in the Kubernetes API. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

export const flagIn = (value: unknown): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined;

/** Undefined when there is none: an empty list says nothing. */
export function unlessEmpty<T>(values: readonly T[]): readonly T[] | undefined {
  return values.length === 0 ? undefined : values;
}

/** In their order, each once. */
export function textsIn(values: readonly unknown[]): readonly string[] | undefined {
  const texts = values.map(textIn).filter((value) => value !== undefined);
  return unlessEmpty(texts.length > 1 ? [...new Set(texts)] : texts);
}

/** A map of texts, sorted, so that the same map always gives the same bytes. */
export function textMapIn(
  value: unknown,
  isWanted: (key: string) => boolean = () => true,
): Readonly<Record<string, string>> | undefined {
  const found: [string, string][] = [];
  for (const [key, text] of Object.entries(fieldsIn(value))) {
    if (typeof text === 'string' && isWanted(key)) found.push([key, text]);
  }
  if (found.length === 0) return undefined;
  return Object.fromEntries(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The status of a condition; undefined when the object does not have it. */
export function conditionIn(status: Fields, type: string): boolean | undefined {
  for (const entry of listIn(status['conditions'])) {
    const condition = fieldsIn(entry);
    if (condition['type'] === type) return condition['status'] === 'True';
  }
  return undefined;
}

/** Optional fields may be given as undefined. */
type Loose<T> = {
  [K in keyof T]: {} extends Pick<T, K> ? T[K] | undefined : T[K];
};

/** Without the fields that say nothing. */
export function said<T extends object>(fields: Loose<T>): T {
  const kept: Partial<Loose<T>> = {};
  for (const name in fields) {
    if (fields[name] !== undefined) kept[name] = fields[name];
  }
  // Only optional fields can be undefined, and those are now absent.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return kept as T;
}
