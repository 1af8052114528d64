// Conditions, as Kubernetes' API conventions have them: one entry per type, and a time that says
// since when the status is what it is.

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface ConditionInput {
  /** `Ready`, `Published`: in CamelCase. */
  readonly type: string;
  readonly status: ConditionStatus;
  /** One word in CamelCase for programs. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
}

export interface Condition extends ConditionInput {
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

export interface ConditionMoment {
  /** `metadata.generation` of the object that was looked at. */
  readonly observedGeneration?: number | undefined;
  readonly nowMs: number;
}

/** `next` in place of the conditions of its types; those of other types stay as they are. */
export function setConditions(
  current: readonly Condition[] | undefined,
  next: readonly ConditionInput[],
  { observedGeneration, nowMs }: ConditionMoment,
): readonly Condition[] {
  const before = new Map(current?.map((condition) => [condition.type, condition]));
  for (const { type, status, reason, message } of next) {
    const known = before.get(type);
    before.set(type, {
      type,
      status,
      reason,
      message,
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
      lastTransitionTime: known?.status === status ? known.lastTransitionTime : timestamp(nowMs),
    });
  }
  return [...before.values()];
}

/**
 * Kubernetes writes times to the second; a finer one would come back changed and look like a
 * difference.
 */
const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
