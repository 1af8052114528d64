// A field of another name, and a value of another name. The two names change places, so that
// nothing is lost whatever an object has: an annotation would not do for a status, because the API
// server takes none with a write to it.
import type { Fields, Part } from '../part.ts';

export function renamed(at: readonly string[], alpha: string, beta: string): Part {
  const swap = (fields: Fields): Fields => ({
    ...(Object.hasOwn(fields, alpha) ? { [beta]: fields[alpha] } : {}),
    ...(Object.hasOwn(fields, beta) ? { [alpha]: fields[beta] } : {}),
  });
  return { at, names: [alpha, beta], up: swap, down: swap };
}

export function renamedValue(
  at: readonly string[],
  name: string,
  alpha: string,
  beta: string,
): Part {
  const other = new Map<unknown, string>([
    [alpha, beta],
    [beta, alpha],
  ]);
  const swap = (fields: Fields): Fields => ({ [name]: other.get(fields[name]) ?? fields[name] });
  return { at, names: [name], up: swap, down: swap };
}
