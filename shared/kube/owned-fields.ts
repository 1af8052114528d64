// Compares what a field manager owns of an object with what it is about to apply. `managedFields`
// says which fields are its own, so that a field it no longer sets, or one that another took from
// it, is seen as a difference too.
import { isRecord } from './json.ts';
import type { KubeObject, ManagedFieldsEntry } from './objects.ts';

/**
 * True when applying `desired` as this manager's status would change neither the object nor who
 * owns what.
 */
export function ownsExactly(
  object: KubeObject,
  fieldManager: string,
  desired: Readonly<Record<string, unknown>>,
): boolean {
  const entry = statusEntry(object, fieldManager);
  const fields = statusFields(entry);
  // A manager with an entry in an older version of the API must move it to this one.
  if (fields === undefined || entry?.['apiVersion'] !== object.apiVersion) return false;
  return matches(fields, object['status'], desired);
}

/**
 * Whether a condition of the status is this manager's, by its type. Where the list has no keys,
 * whoever applies it applies it whole, so all of them are.
 */
export function conditionOwner(
  object: KubeObject,
  fieldManager: string,
): (type: string) => boolean {
  const lists = (object.metadata.managedFields ?? []).flatMap(conditionKeys);
  const isWhole = lists.length > 0 && lists.every((keys) => keys.length === 0);
  const own = conditionKeys(statusEntry(object, fieldManager)).flat();
  return (type) => isWhole || own.some((key) => isSame(key, { type }));
}

/** The keys of the conditions in this entry; nothing when it does not speak of conditions. */
function conditionKeys(entry: ManagedFieldsEntry | undefined): readonly (readonly unknown[])[] {
  const list = statusFields(entry)?.['f:conditions'];
  if (!isRecord(list)) return [];
  const names = Object.keys(list).filter((name) => name.startsWith('k:'));
  return [names.map((name): unknown => JSON.parse(name.slice(2)))];
}

function statusEntry(object: KubeObject, fieldManager: string): ManagedFieldsEntry | undefined {
  return object.metadata.managedFields?.find(
    ({ manager, operation, subresource }) =>
      manager === fieldManager && operation === 'Apply' && subresource === 'status',
  );
}

function statusFields(entry: ManagedFieldsEntry | undefined): Record<string, unknown> | undefined {
  const fields = isRecord(entry?.fieldsV1) ? entry.fieldsV1['f:status'] : undefined;
  return isRecord(fields) ? fields : undefined;
}

/**
 * `fields` is a node of a fieldsV1 tree: `f:name` a field, `k:{...}` the item of a list with
 * these keys, `v:...` a value of a set, `.` the node itself. A node without children is owned as
 * a whole.
 */
function matches(fields: Record<string, unknown>, current: unknown, desired: unknown): boolean {
  const children = Object.entries(fields).filter(([name]) => name !== '.');
  if (children.length === 0) return isSame(current, desired);
  if (children.every(([name]) => name.startsWith('f:'))) {
    return fieldsMatch(children, current, desired);
  }
  return itemsMatch(children, current, desired);
}

function fieldsMatch(
  children: readonly [string, unknown][],
  current: unknown,
  desired: unknown,
): boolean {
  if (!isRecord(current) || !isRecord(desired)) return false;
  const names = definedKeys(desired);
  if (names.length !== children.length) return false;
  return children.every(([child, below]) => {
    const name = child.slice(2);
    return names.includes(name) && matches(asNode(below), current[name], desired[name]);
  });
}

function itemsMatch(
  children: readonly [string, unknown][],
  current: unknown,
  desired: unknown,
): boolean {
  if (!Array.isArray(current) || !Array.isArray(desired)) return false;
  if (desired.length !== children.length) return false;
  return children.every(([child, below]) => {
    const key: unknown = JSON.parse(child.slice(2));
    const isMeant = (item: unknown): boolean =>
      child.startsWith('v:') ? isSame(item, key) : hasKeys(item, key);
    const there = current.find(isMeant);
    const wanted = desired.find(isMeant);
    return there !== undefined && wanted !== undefined && matches(asNode(below), there, wanted);
  });
}

const asNode = (below: unknown): Record<string, unknown> => (isRecord(below) ? below : {});

const hasKeys = (item: unknown, keys: unknown): boolean =>
  isRecord(item) &&
  isRecord(keys) &&
  Object.entries(keys).every(([name, value]) => isSame(item[name], value));

/** JSON has no undefined: such a field is not sent. */
const definedKeys = (record: Record<string, unknown>): string[] =>
  Object.keys(record).filter((name) => record[name] !== undefined);

function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  }
  if (isRecord(a) && isRecord(b)) {
    const names = definedKeys(a);
    return (
      names.length === definedKeys(b).length && names.every((name) => isSame(a[name], b[name]))
    );
  }
  return a === b;
}
