// The shape of an object of ours with every field that its types have, however deep.
import type { Condition } from '../../../shared/kube/conditions.ts';

/** With every field, however deep. */
export type Whole<Value> = Value extends readonly (infer Item)[]
  ? readonly [Whole<Item>, ...Whole<Item>[]]
  : Value extends object
    ? { readonly [Name in keyof Value]-?: Whole<Value[Name]> }
    : Value;

export interface WholeKind {
  readonly kind: string;
  /** Path of the resource; objects follow. */
  readonly path: string;
  /** Fields that exclude each other stand in different ones. */
  readonly specs: Readonly<Record<string, object>>;
  readonly status: object;
  /** Fields that the schema has only to refuse them in words of its own. */
  readonly refused?: readonly string[];
  /** With which an object may be made at all, and what the API server makes of a part of it. */
  readonly least: { readonly spec: object; readonly filled: object };
}

export const AT = '2026-01-02T03:04:05Z';
export const CONDITION: Whole<Condition> = {
  type: 'Ready',
  status: 'True',
  reason: 'Swept',
  message: 'All is well.',
  lastTransitionTime: AT,
  observedGeneration: 1,
};
