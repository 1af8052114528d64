// The scope of a replica: the part of the feed that it subscribes to, and the ledgers of that part.
// A node has two filters and two ledgers, however large the cluster is.
import {
  FLOOR_SUBJECT,
  MARKER_SUBJECT,
  ledgerFilter,
  ledgersOf,
  namespaceLedger,
  placeTokens,
} from '../../feed/subjects.ts';

export type Scope =
  | { readonly node: string }
  | 'cluster'
  | { readonly namespaces: readonly string[] };

/** Subjects relative to the feed; no message matches two of them. */
export function filtersOf(scope: Scope): readonly string[] {
  if (scope === 'cluster') return ['>'];
  if ('node' in scope) return ledgerNames(scope).map(ledgerFilter);
  const ledgers = ledgerNames(scope);
  const checkpoints = ledgers.map((ledger) => `${ledger}.>`);
  return [...ledgers.map(ledgerFilter), ...checkpoints, MARKER_SUBJECT, FLOOR_SUBJECT];
}

/** The ledger in which this scope counts an object. */
export function ledgerOf(scope: Scope, subject: string): string {
  const [place, namespace] = ledgersOf(subject);
  return typeof scope === 'object' && 'namespaces' in scope ? namespace : place;
}

/** Whether this scope holds all that the ledger sums up, and counts it there. */
export function countsLedger(scope: Scope): (ledger: string) => boolean {
  if (scope === 'cluster') return (ledger) => !ledger.startsWith('namespace.');
  const names = new Set(ledgerNames(scope));
  return (ledger) => names.has(ledger);
}

function ledgerNames(scope: Exclude<Scope, 'cluster'>): readonly string[] {
  if ('node' in scope) return [scope, 'all' as const].map((place) => placeTokens(place));
  // A reader of a namespace also needs cluster-scoped objects, such as nodes.
  return [...new Set([...scope.namespaces, ''])].map(namespaceLedger);
}
