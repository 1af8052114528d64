// What is kept of an object that was read, and how it is kept from being changed: many callers
// look at the same one.
import type { KubeObject } from '../objects.ts';

/**
 * The object, frozen to its last field, without `metadata.managedFields`: nobody decides by them
 * here, and they are often the larger part. Who needs them reads the object itself. The object that
 * is given is used up.
 */
export function keep(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return freeze({ ...object, metadata });
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const inner of Object.values(value)) freeze(inner);
    Object.freeze(value);
  }
  return value;
}
