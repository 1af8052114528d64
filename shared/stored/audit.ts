// Answers "is anything stored in an old version?" from the values that etcd holds, wherever they
// are read. `auditStored` answers for everything, `countStored` for one resource.
import { findingsOf } from './findings.ts';
import { USUAL_PREFIXES } from './place.ts';
import type { GroupResource } from './built-in.ts';
import { idOf, isOf, type Named, type Row, Tally } from './tally.ts';
import type { StoredSource } from './value.ts';
import { type Outcome, type ResourceVerdict, verdictOn } from './verdict.ts';

export interface AuditOptions {
  /** The usual ones when absent. */
  readonly prefixes?: readonly string[] | undefined;
  /** Everything when absent. */
  readonly resources?: readonly GroupResource[] | undefined;
  /** How many names are told of each row; 3 when absent. */
  readonly examplesMax?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Nothing shows that the keys are as they were written: those elsewhere are looked at too. */
  readonly isUnhashed?: boolean | undefined;
}

export interface AuditReport {
  readonly outcome: Outcome;
  /** One sentence each: what is old, and what could not be told. Empty when clean. */
  readonly findings: readonly string[];
  /** Trouble that removing a version now would cause, although nothing is stored in it. */
  readonly warnings: readonly string[];
  /** Under the prefixes. */
  readonly values: number;
  readonly rows: readonly Row[];
  readonly verdicts: readonly ResourceVerdict[];
  readonly unreadable: Named;
  /** Keys under none of the prefixes: they were not looked into. */
  readonly elsewhere: Named;
}

/** Names are for a person who wants to look at one; more of them are a list. */
const EXAMPLES_MAX = 3;

export async function auditStored(
  source: StoredSource,
  options: AuditOptions = {},
): Promise<AuditReport> {
  const tally = await tallied(source, options);
  const rows = tally.rows();
  const definitions = tally.definitions.filter(
    (one) => options.resources?.some((each) => isOf(one, each)) ?? true,
  );
  const rowsOf = Map.groupBy(rows, idOf);
  const verdicts = definitions
    .toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
    .map((definition) => {
      const own = rowsOf.get(idOf(definition)) ?? [];
      return verdictOn(definition, { rows: own, fields: tally.fieldsOf(definition) });
    });
  const { prefixes = USUAL_PREFIXES, resources } = options;
  const query = { prefixes, resources };
  const { old, unknown, warnings } = findingsOf(rows, verdicts, tally, query);
  const outcome = old.length > 0 ? 'old' : unknown.length > 0 ? 'unknown' : 'clean';
  const { count: values, unreadable, elsewhere } = tally;
  const findings = [...old, ...unknown];
  return { outcome, findings, warnings, values, rows, verdicts, unreadable, elsewhere };
}

/** How the objects of one resource are stored. */
export interface StoredCount {
  readonly total: number;
  /** Counts by apiVersion, with examples. */
  readonly versions: ReadonlyMap<string, Named>;
  /** Values whose version cannot be read: encrypted ones, and those that are nothing known. */
  readonly hidden: Named;
}

/** For who wants to know about one resource; `keyPrefixes` says where its values are. */
export async function countStored(
  source: StoredSource,
  resource: GroupResource,
  options: Omit<AuditOptions, 'resources'> = {},
): Promise<StoredCount> {
  const tally = await tallied(source, { ...options, resources: [resource] });
  const versions = new Map<string, Named>();
  let hidden: Named = { count: 0, examples: [] };
  for (const { apiVersion, count, examples } of tally.rows()) {
    const before = apiVersion === undefined ? hidden : (versions.get(apiVersion) ?? NONE);
    const sum = { count: before.count + count, examples: [...before.examples, ...examples] };
    if (apiVersion === undefined) hidden = sum;
    else versions.set(apiVersion, sum);
  }
  return { total: tally.count, versions, hidden };
}

const NONE: Named = { count: 0, examples: [] };

async function tallied(source: StoredSource, options: AuditOptions): Promise<Tally> {
  const { prefixes = USUAL_PREFIXES, resources, examplesMax = EXAMPLES_MAX, signal } = options;
  const looksElsewhere = options.isUnhashed ?? false;
  const tally = new Tally({ prefixes, resources, examplesMax, looksElsewhere });
  for await (const batch of source) {
    signal?.throwIfAborted();
    for (const value of batch) tally.add(value);
  }
  return tally;
}
