// The contract between the shared reconciler and a function that keeps objects with servers: the
// function says how it observes, decides, applies one step, and what its status is.
import type { ConditionInput, Reason } from '../kube/conditions.ts';
import type { KubeObject, ResourceRef } from '../kube/objects.ts';
import type { Attempt, AttemptLog } from './attempts.ts';
import type { Decision } from './decision.ts';
import type { PolicyRefusal } from './missing-rights.ts';
import type { PendingMemory } from './pending.ts';
import type { StepResult } from './steps.ts';
import type { StatusUpdate, Unobserved } from './write-status.ts';

/** An object as its function knows it, with the status of the last reconcile. */
export interface Kept {
  /** As it was read. */
  readonly object: KubeObject;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly status: {
    readonly observedGeneration?: number;
    readonly plan?: { readonly next: string; readonly waitsFor?: string };
    readonly conditions?: readonly Pick<ConditionInput, 'type' | 'status' | 'reason'>[];
  };
}

/** Kept of an object between two reconciles, whatever the function. */
export interface KeptMemory extends PendingMemory {
  /** Steps that may change nothing. */
  readonly attempts: AttemptLog;
  parts?: unknown;
  policyRefusal?: PolicyRefusal;
}

export interface Observation<State> {
  readonly state: State;
  /** Some of it is from an earlier reconcile: it is read again before any step is applied. */
  readonly isRemembered: boolean;
}

/** The end of a look: the decision, and how the object was found to be. */
export interface Seen {
  readonly nowMs: number;
  readonly decision: Decision<unknown>;
  readonly conditions: readonly ConditionInput[];
}

/** How a function keeps its objects. */
export interface Keeping<Object extends Kept, State, Step, Records, Deps> {
  readonly ref: ResourceRef;
  readonly kind: string;
  readonly functionName: string;
  readonly fieldManager: string;
  /** On the parts of an object: its name. */
  readonly label: string;
  /** The field of log lines that names the object. */
  readonly logField: string;
  /** Pages and ports that are open without the NetworkPolicy; undefined where it makes none. */
  readonly exposed?: string;
  /** A sentence on how it is while rights lack; undefined where servers go on. */
  readonly unattended?: string;
  readonly objectOf: (object: KubeObject) => Object;
  readonly observe: (
    deps: Deps,
    object: Object,
    signal: AbortSignal,
  ) => Promise<Observation<State>>;
  readonly decide: (state: State) => Decision<Step>;
  /** True when the object is as its spec says and nothing is missing. */
  readonly isConverged: (state: State, decision: Decision<Step>) => boolean;
  readonly attemptOf: (step: Step, next: string, state: State) => Attempt;
  /** Set for a step that changes the records in the status alone. */
  readonly recordsIn: (step: Step) => Records | undefined;
  readonly applyStep: (
    deps: Deps,
    state: State,
    step: Step,
    signal: AbortSignal,
  ) => Promise<StepResult | Reason>;
  /** Records stay as they are when none are given. */
  readonly statusOf: (
    deps: Deps,
    state: State,
    decision: Decision<Step>,
    records?: Records,
  ) => StatusUpdate;
  /** Shows in metrics what a look that ends has seen. */
  readonly show?: (deps: Deps, state: State, seen: Seen) => void;
  /** The rest of the status when nothing can be observed. */
  readonly unobserved: Pick<Unobserved, 'next' | 'unknown'>;
  /** A part changed, perhaps by somebody else: some of the memory may no longer be true. */
  readonly partChanged?: (partKind: string, object: KubeObject, deps: Deps) => void;
}
