// Schemas of our definitions as they are read, and how a copy of one is edited.

/** A schema, a column or a part of one: YAML that we wrote ourselves. */
export type Node = Record<string, unknown>;

/** Throws where the definition has no such place: it and its differences are edited together. */
export function nodeAt(root: unknown, ...path: readonly string[]): Node {
  let value = root;
  for (const step of path) value = childOf(value, step, path);
  if (isNode(value)) return value;
  throw new TypeError(`There is no object at ${path.join('.')}.`);
}

/** The schema of a field, by the names of the fields on the way; `[]` stands for an item. */
export const fieldAt = (schema: Node, ...path: readonly string[]): Node =>
  nodeAt(schema, ...path.flatMap((name) => (name === '[]' ? ['items'] : ['properties', name])));

/** Takes a field out of a record, and tells its schema. */
export function taken(record: Node, name: string): Node {
  const field = fieldAt(record, name);
  record['properties'] = Object.fromEntries(
    Object.entries(nodeAt(record, 'properties')).filter(([other]) => other !== name),
  );
  return field;
}

/** Puts fields where another one was, in the same place among all. */
export function replaced(record: Node, name: string, fields: Readonly<Record<string, Node>>): void {
  fieldAt(record, name);
  record['properties'] = Object.fromEntries(
    Object.entries(nodeAt(record, 'properties')).flatMap(([other, field]) =>
      other === name ? Object.entries(fields) : [[other, field]],
    ),
  );
  const { required } = record;
  if (!Array.isArray(required)) return;
  const names = Object.keys(fields);
  record['required'] = required.flatMap((one: unknown) => (one === name ? names : [one]));
}

function childOf(value: unknown, step: string, path: readonly string[]): unknown {
  if (isNode(value) && Object.hasOwn(value, step)) return value[step];
  throw new TypeError(`There is no ${step} at ${path.join('.')}.`);
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
