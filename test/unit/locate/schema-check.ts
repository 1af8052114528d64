// Holds a value against the part of JSON Schema that locate describes itself in.
import type { Schema } from '../../../functions/locate/schema.ts';

/** Where the value is not as described, and how. */
export function mismatches(schema: Schema, value: unknown, at: string): string[] {
  switch (schema.type) {
    case undefined:
      return [];
    case 'array':
      if (!Array.isArray(value)) return [`${at} is no list`];
      return value.flatMap((item, index) =>
        mismatches(schema.items ?? {}, item, `${at}[${index}]`),
      );
    case 'object':
      return objectMismatches(schema, value, at);
    case 'integer':
      return Number.isInteger(value) ? [] : [`${at} is no whole number`];
    default:
      return typeof value === schema.type ? [] : [`${at} is no ${schema.type}`];
  }
}

function objectMismatches(schema: Schema, value: unknown, at: string): string[] {
  if (typeof value !== 'object' || value === null) return [`${at} is no object`];
  const { properties = {}, required = [], additionalProperties = true } = schema;
  const missing = required.filter((name) => !(name in value)).map((name) => `${at}.${name} lacks`);
  const others = Object.entries(value).flatMap(([name, item]) => {
    const own = properties[name];
    if (own !== undefined) return mismatches(own, item, `${at}.${name}`);
    if (additionalProperties === false) return [`${at}.${name} is not described`];
    return additionalProperties === true
      ? []
      : mismatches(additionalProperties, item, `${at}.${name}`);
  });
  return [...missing, ...others];
}
