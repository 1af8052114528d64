// Named fields of kinds that a feed was told about: how their paths are read, and which paths are
// refused because of what stands there.
import type { ResourceName } from '../subjects.ts';
import { LAST_APPLIED } from './pod.ts';
import type { SourceObject } from './source.ts';
import { isFields } from './values.ts';

declare global {
  /** In V8 since Node 22, and not yet in TypeScript's library. */
  interface JSON {
    isRawJSON(value: unknown): boolean;
  }
}

export interface NamedField {
  readonly name: string;
  /** `.spec.replicas`, `.status.conditions[0].type`, `.metadata.labels['example.com/tier']`. */
  readonly path: string;
}

type Step = string | number;

/** `.field`, `[3]` or `['any.key']`, one after the other. */
const STEP = /\.([^.[\]'"\s]+)|\[(\d{1,9})\]|\['([^']+)'\]/gy;

/**
 * Fields that hold passwords in pod templates and similar objects, under these names at any depth.
 */
const HIDDEN = ['env', 'envFrom', 'args', 'command', 'volumes', 'managedFields', LAST_APPLIED];
const PAYLOADS = ['data', 'stringData', 'binaryData'];
const PAYLOAD_KINDS = ['secret', 'secrets', 'configmap', 'configmaps'];

/** Why a feed does not show what stands there, as a sentence; undefined when it does. */
export function refuseFieldPath(
  group: string,
  kindOrResource: string,
  path: string,
): string | undefined {
  const steps = stepsOf(path);
  if (steps === undefined) {
    return (
      `The path ${path} cannot be read; write it as .spec.replicas, .status.conditions[0].type ` +
      "or .metadata.labels['example.com/tier']."
    );
  }
  const shown = (value: string): string => `The path ${path} holds ${value}, which no feed shows; `;
  const hidden = steps.find(isHidden);
  if (hidden !== undefined) return `${shown(String(hidden))}name another field.`;
  const [first = '', second, third] = steps;
  const isPayloadKind = group === '' && PAYLOAD_KINDS.includes(kindOrResource.toLowerCase());
  if (isPayloadKind && PAYLOADS.includes(String(first))) {
    return `${shown(`the data of ${kindOrResource}`)}name another field.`;
  }
  const isWide = second === undefined || (second === 'annotations' && third === undefined);
  if (first === 'metadata' && isWide) {
    return `${shown('all annotations')}name one, as .metadata.annotations['example.com/tier'].`;
  }
  return undefined;
}

/** The fields that are there, sorted by their names; what is refused is never there. */
export function namedFields(
  resource: ResourceName,
  object: SourceObject,
  fields: readonly NamedField[],
): Readonly<Record<string, unknown>> | undefined {
  const [plural = '', ...group] = resource.split('.');
  const found: [string, unknown][] = [];
  for (const { name, path } of fields) {
    if (refuseFieldPath(group.join('.'), plural, path) !== undefined) continue;
    const value = valueAt(object, stepsOf(path) ?? []);
    if (value !== undefined) found.push([name, copied(value)]);
  }
  if (found.length === 0) return undefined;
  return Object.fromEntries(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function stepsOf(path: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let read = 0;
  for (const [text, field, index, key] of path.matchAll(STEP)) {
    steps.push(index === undefined ? (field ?? key ?? '') : Number(index));
    read += text.length;
  }
  return steps.length > 0 && read === path.length ? steps : undefined;
}

function valueAt(object: unknown, steps: readonly Step[]): unknown {
  let value = object;
  for (const step of steps) {
    if (typeof step === 'number') value = Array.isArray(value) ? value[step] : undefined;
    else value = isFields(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/**
 * Copies a value with its fields sorted, since a list and an event may write them in different
 * order. Hidden fields are left out at any depth, and so are annotations that the spec does not
 * name.
 */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  // An integer too long for a number.
  if (!isFields(value) || JSON.isRawJSON(value)) return value;
  const names = Object.keys(value).filter((name) => name !== 'annotations' && !isHidden(name));
  return Object.fromEntries(names.toSorted().map((name) => [name, copied(value[name])]));
}

const isHidden = (name: Step): boolean => HIDDEN.includes(String(name));
