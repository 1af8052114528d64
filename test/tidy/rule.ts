// A tidy rule has a name, a reason, and a check of the files that yields findings.

import type { Source } from './sources.ts';

export interface Finding {
  readonly path: string;
  readonly line: number;
  /** Says what is wrong here, and what to do instead. */
  readonly message: string;
}

export interface Rule {
  readonly name: string;
  /** Why the rule is there: it is printed with the findings, so that the rule can be judged. */
  readonly reason: string;
  check(sources: readonly Source[]): Finding[];
}

/** The reason once, then each place; empty when the rule holds. */
export function describeFindings(rule: Rule, findings: readonly Finding[]): string {
  if (findings.length === 0) return '';
  const places = findings.map(({ path, line, message }) => `${path}:${line} ${message}`);
  return [`${rule.name}, because ${rule.reason}:`, ...places].join('\n');
}

/** A rule that judges each file by itself. */
export const perFile =
  (check: (source: Source) => Iterable<Omit<Finding, 'path'>>): Rule['check'] =>
  (sources) =>
    sources.flatMap((source) =>
      Array.from(check(source), (finding) => ({ ...finding, path: source.path })),
    );
