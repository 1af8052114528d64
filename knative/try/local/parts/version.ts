// Versions as binaries print them: read from their output and compared by major and minor.
import type { PartEntry } from './part-entry.ts';

interface Release {
  readonly major: number;
  readonly minor: number;
}

/** The first thing in a `--version` output that looks like one, written with a leading v. */
export function versionIn(output: string): string | undefined {
  const found = /\bv?(\d+\.\d+\.\d+\S*)/.exec(output)?.[1];
  return found === undefined ? undefined : `v${found}`;
}

export function fits(entry: PartEntry, version: string): boolean {
  const found = releaseOf(version);
  const pinned = releaseOf(entry.version);
  return found.major === pinned.major && Math.abs(found.minor - pinned.minor) <= entry.minorSkew;
}

/** For people: `v3.6`, or `v1.35 to v1.37`. */
export function whatFits(entry: PartEntry): string {
  const { major, minor } = releaseOf(entry.version);
  const { minorSkew } = entry;
  if (minorSkew === 0) return `v${major}.${minor}`;
  return `v${major}.${minor - minorSkew} to v${major}.${minor + minorSkew}`;
}

/** True when `version` is at least `wanted`; both as Go writes them: `go1.26.8`, `1.26`. */
export function isGoAtLeast(version: string, wanted: string): boolean {
  const found = releaseOf(version);
  const least = releaseOf(wanted);
  return found.major > least.major || (found.major === least.major && found.minor >= least.minor);
}

function releaseOf(version: string): Release {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return { major: Number(major), minor: Number(minor) };
}
