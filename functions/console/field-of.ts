// Reads a field of an object by its path. Others wrote what stands there.
import { cut } from '../../shared/cut.ts';
import { isRecord } from '../../shared/kube/json.ts';

export function fieldOf(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** Empty for what is no text, number or truth value. */
export function textAt(object: unknown, path: string): string {
  const value = fieldOf(object, path);
  const isScalar = ['string', 'number', 'boolean'].includes(typeof value);
  return isScalar ? String(value) : '';
}

const TEXT_BYTES_MAX = 1_000;

/** As much of it as the page shows. */
export const short = (text: string): string => cut(text, TEXT_BYTES_MAX);
