// The fields of an object that an API server did not give back: they were pruned. Pure.
import { isRecord } from '../../../shared/kube/json.ts';

/** One object with more of them has a field that holds data of its own. */
const PATHS_MAX = 200;
const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/;

/**
 * Paths as `.spec.rules[].port`, each once, in the order in which they are met. A null is nothing;
 * a field that was added is a default.
 */
export function lostFields(sent: unknown, kept: unknown): readonly string[] {
  const lost = new Set<string>();
  // Objects may be nested deeper than functions may call each other.
  const open: (readonly [unknown, unknown, string])[] = [[sent, kept, '']];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [before, after, path] = next;
    if (Array.isArray(before) && Array.isArray(after)) {
      for (const [index, item] of before.entries()) open.push([item, after[index], `${path}[]`]);
    } else if (isRecord(before) && isRecord(after)) {
      for (const [key, value] of Object.entries(before)) {
        if (value === null) continue;
        const at = `${path}${PLAIN_KEY.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`}`;
        if (Object.hasOwn(after, key)) open.push([value, after[key], at]);
        else if (lost.size < PATHS_MAX) lost.add(at);
      }
    }
  }
  return [...lost];
}
