// Conditions, as Kubernetes' API conventions have them: one entry per type, and a time that says
// since when the status is what it is.

import { isRecord } from './json.ts';
import type { KubeObject } from './objects.ts';
import { conditionOwner } from './owned-fields.ts';
import { timestamp } from './timestamp.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** The `reason` and `message` of a condition, before its type and status are known. */
export interface Reason {
  /** One word in CamelCase for programs. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
}

export interface ConditionInput extends Reason {
  /** `Ready`, `Published`: in CamelCase. */
  readonly type: string;
  readonly status: ConditionStatus;
}

export interface Condition extends ConditionInput {
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

export interface ConditionMoment {
  /** The field manager that will apply the conditions. */
  readonly fieldManager: string;
  /** `metadata.generation` of the object that was looked at. */
  readonly observedGeneration?: number | undefined;
  readonly nowMs: number;
}

/**
 * The conditions for this field manager to apply: `next`, and its other conditions as they are.
 * Conditions of other managers are left out, since applying them would take them over.
 */
export function setConditions(
  object: KubeObject,
  next: readonly ConditionInput[],
  { fieldManager, observedGeneration, nowMs }: ConditionMoment,
): readonly Condition[] {
  const current = conditionsOf(object);
  const isOwn = conditionOwner(object, fieldManager);
  const own = current.filter(({ type }) => isOwn(type));
  const result = new Map(own.map((condition) => [condition.type, condition]));
  for (const { type, status, reason, message } of next) {
    const known = current.find((condition) => condition.type === type);
    result.set(type, {
      type,
      status,
      reason,
      message,
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
      lastTransitionTime: known?.status === status ? known.lastTransitionTime : timestamp(nowMs),
    });
  }
  return [...result.values()];
}

/**
 * Reason of conditions whose function was silent for too long, so that they may no longer be true.
 */
export const NOT_SWEPT = 'NotSwept';

export function conditionsOf({ status }: KubeObject): readonly Condition[] {
  const conditions: unknown = isRecord(status) ? status['conditions'] : undefined;
  // The API server holds them to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Array.isArray(conditions) ? (conditions as readonly Condition[]) : [];
}
