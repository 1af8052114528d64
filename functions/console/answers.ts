// The answers of this function, as its page reads them. Types alone, so that both sides have the
// same ones: a browser gets nothing of this file.

/** The worst first. `unknown` is no word that all is well: nobody renewed it. */
export type Severity = 'critical' | 'warning' | 'unknown' | 'note';

export interface Problem {
  readonly severity: Severity;
  readonly kind: string;
  readonly namespace?: string;
  /** Absent where it is about the kind. */
  readonly name?: string;
  readonly reason: string;
  /** A sentence, as it was said of the object. */
  readonly says: string;
  readonly next: string;
  readonly docs: string;
  readonly since?: string;
}

export interface ShownObject {
  readonly namespace?: string;
  readonly name: string;
  readonly health: Severity | 'fine';
  readonly created: string;
  readonly conditions: readonly Readonly<Record<ConditionField, string>>[];
  readonly facts: readonly (readonly [label: string, text: string])[];
  readonly plan?: { readonly next: string; readonly waitsFor: string };
  readonly members?: readonly (readonly string[])[];
}

type ConditionField = 'type' | 'status' | 'reason' | 'message' | 'since';

export interface ShownState {
  /** By the clock of the function, as all ages are. */
  readonly now: string;
  readonly problems: readonly Problem[];
  /** How many more there are. */
  readonly problemsLeft: number;
  readonly kinds: readonly {
    readonly kind: string;
    readonly docs: string;
    readonly objects: readonly ShownObject[];
    /** That there are more, which are not shown. */
    readonly isCut: boolean;
  }[];
  readonly feed: { readonly phase: string; readonly version: number; readonly isStale: boolean };
}

/** A gone object is its name alone. */
export type Row =
  | readonly [kind: 'n' | 'p', namespace: string, name: string]
  | readonly [
      kind: 'n' | 'p',
      namespace: string,
      name: string,
      node: string,
      ips: string,
      state: string,
      /** The services of its namespace that send to it, separated by blanks. */
      services: string,
    ];
