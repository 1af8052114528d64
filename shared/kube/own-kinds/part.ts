// A part of an object that two versions say in different words: where it is, and how each says it.
import { isRecord } from '../json.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface Part {
  /** The way to the record that has the fields; `[]` stands for each item of a list. */
  readonly at: readonly string[];
  /** The fields, by the names of both versions. */
  readonly names: readonly string[];
  /**
   * From v1alpha1 to v1beta1, and back. Both take any value, and leave out what the other version
   * has no words for: that is kept beside it.
   */
  up(fields: Fields): Fields;
  down(fields: Fields): Fields;
  /** The key of an item, where `at` goes through a list. */
  keyOf?(item: Fields): string;
  /**
   * Puts what the other version says now into what was kept. Without it, or when it answers
   * undefined, that is out of date after such a change.
   */
  refit?(kept: Fields, now: Fields): Fields | undefined;
}

/** Told the record that `at` leads to, and its path; answers the one to have instead. */
export type Change = (record: Fields, path: string) => Fields;

/** The same value where nothing changes. Nothing is made where the way ends early. */
export function changeAt(part: Part, object: Fields, change: Change): Fields {
  const seen = new Map<string, number>();
  const itemPath = (path: string, item: Fields): string => {
    const whole = `${path}[${part.keyOf?.(item) ?? ''}]`;
    const times = (seen.get(whole) ?? 0) + 1;
    seen.set(whole, times);
    return times === 1 ? whole : `${whole}#${times}`;
  };
  const within = (value: unknown, way: readonly string[], path: string): unknown => {
    const [step, ...rest] = way;
    if (step === '[]') {
      if (!Array.isArray(value)) return value;
      return value.map((item: unknown) =>
        isRecord(item) ? within(item, rest, itemPath(path, item)) : item,
      );
    }
    if (!isRecord(value)) return value;
    if (step === undefined) return change(value, path);
    if (!Object.hasOwn(value, step)) return value;
    const after = within(value[step], rest, `${path}.${step}`);
    return after === value[step] ? value : { ...value, [step]: after };
  };
  const changed = within(object, part.at, '');
  return isRecord(changed) ? changed : object;
}

export const picked = (record: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));

export const without = (record: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
