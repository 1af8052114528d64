// A reason speaks against an upgrade, or has to be known of it: a sentence, its weight, and the
// commands that help. All reasons together are the verdict.
import type { Named } from '../../../shared/stored/tally.ts';

/**
 * `unsafe`: whatever the objects are. `unsafe-objects`: only because of objects that exist.
 * `unknown`: it could not be told. `note`: good to know, and nothing against it.
 */
export type Weight = 'unsafe' | 'unsafe-objects' | 'unknown' | 'note';

export type Verdict = 'safe' | Exclude<Weight, 'note'>;

export type What =
  | 'version-removed'
  | 'version-unserved'
  | 'storage-flipped'
  | 'scope-changed'
  | 'names-changed'
  | 'name-taken'
  | 'kind-elsewhere'
  | 'conversion-changed'
  | 'webhook-absent'
  | 'update-refused'
  | 'objects-refused'
  | 'fields-pruned'
  | 'refused-already'
  | 'not-checked';

export interface Reason {
  readonly what: What;
  readonly weight: Weight;
  /** A whole sentence. */
  readonly says: string;
  /** In this order; empty where no command helps. */
  readonly commands: readonly string[];
  /** Whom it is about: names, or names with a reason. */
  readonly objects?: Named;
  /** The path of the field, as `.spec.rules[].port`. */
  readonly field?: string;
}

const ORDER: readonly Weight[] = ['unsafe', 'unsafe-objects', 'unknown', 'note'];

export const byWeight = (reasons: readonly Reason[]): readonly Reason[] =>
  reasons.toSorted((a, b) => ORDER.indexOf(a.weight) - ORDER.indexOf(b.weight));

export function verdictOf(weights: readonly Weight[]): Verdict {
  const heaviest = ORDER.find((weight) => weights.includes(weight));
  return heaviest === undefined || heaviest === 'note' ? 'safe' : heaviest;
}

/** The heaviest of several verdicts. */
export const verdictOver = (verdicts: readonly Verdict[]): Verdict =>
  verdictOf(verdicts.map((verdict) => (verdict === 'safe' ? 'note' : verdict)));
