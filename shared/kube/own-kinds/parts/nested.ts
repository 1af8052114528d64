// Fields that one version has in a record of their own: a name becomes a reference, or a reference
// a name.
import { isRecord } from '../../json.ts';
import type { Fields, Part } from '../part.ts';

export interface Nesting {
  /** The name of the record that has the fields in the other version. */
  readonly record: string;
  /** Each field by its name outside, with the one inside. */
  readonly fields: Readonly<Record<string, string>>;
}

/** v1beta1 has the record. */
export function nested(at: readonly string[], nesting: Nesting): Part {
  return { at, names: namesOf(nesting), up: into(nesting), down: outOf(nesting) };
}

/** v1alpha1 has the record. */
export function unnested(at: readonly string[], nesting: Nesting): Part {
  return { at, names: namesOf(nesting), up: outOf(nesting), down: into(nesting) };
}

const namesOf = ({ record, fields }: Nesting): readonly string[] => [
  record,
  ...Object.keys(fields),
];

const into =
  ({ record, fields }: Nesting) =>
  (before: Fields): Fields => {
    const inside = Object.entries(fields).flatMap(([outer, inner]) =>
      Object.hasOwn(before, outer) ? [[inner, before[outer]]] : [],
    );
    return inside.length === 0 ? {} : { [record]: Object.fromEntries(inside) };
  };

const outOf =
  ({ record, fields }: Nesting) =>
  (before: Fields): Fields => {
    const inside = before[record];
    if (!isRecord(inside)) return {};
    const outside = Object.entries(fields).flatMap(([outer, inner]) =>
      Object.hasOwn(inside, inner) ? [[outer, inside[inner]]] : [],
    );
    return Object.fromEntries(outside);
  };
