// Short names for what objects hold: equal exactly when the content is. Pure. It stands beside the
// doors, so it asks by itself whether something is an object.
import { hash } from 'node:crypto';

/** Enough that two contents of one object never meet. */
const HASH_LENGTH = 16;

export const hashOf = (value: unknown): string =>
  hash('sha256', JSON.stringify(sorted(value)), 'hex').slice(0, HASH_LENGTH);

/** As equal hashes say it: a field without a value is none. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return a === b;
  return Object.keys({ ...a, ...b }).every((name) => isSame(a[name], b[name]));
}

/** The same with the fields of every object in the order of their names. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => sorted(item));
  if (!isRecord(value)) return value;
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(value).toSorted()) {
    const item = sorted(value[name]);
    // To assign this name would set no field.
    if (name === '__proto__')
      Object.defineProperty(result, name, { value: item, enumerable: true });
    else result[name] = item;
  }
  return result;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
