// The little of JSON Schema that the OpenAPI description is written in.

export interface Schema {
  readonly type?: 'string' | 'integer' | 'boolean' | 'object' | 'array';
  readonly description?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly default?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

export const STRING: Schema = { type: 'string' };
export const COUNT: Schema = { type: 'integer', minimum: 0 };
export const TIME: Schema = { type: 'string', format: 'date-time' };
export const listOf = (items: Schema): Schema => ({ type: 'array', items });

/** All properties whose names do not end in a question mark are always there; no others are. */
export function record(described: Readonly<Record<string, Schema>>): Schema {
  const names = Object.keys(described);
  const properties = Object.fromEntries(
    names.map((name) => [name.replace(/\?$/, ''), described[name] ?? {}]),
  );
  const required = names.filter((name) => !name.endsWith('?'));
  return { type: 'object', properties, required, additionalProperties: false };
}
