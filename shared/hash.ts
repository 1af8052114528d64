// Short names for what objects hold: equal exactly when the content is. Pure.
import { createHash } from 'node:crypto';

/** Enough that two contents of one object never meet. */
const HASH_LENGTH = 16;

export const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')
    .slice(0, HASH_LENGTH);

/** The same with the fields of every object in the order of their names. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => sorted(item));
  if (typeof value !== 'object' || value === null) return value;
  const fields = new Map<string, unknown>(Object.entries(value));
  const names = [...fields.keys()].toSorted();
  return Object.fromEntries(names.map((name) => [name, sorted(fields.get(name))]));
}
