// For each version of each custom resource: may it be removed from the CRD, may it not, or can it
// not be told, and why. Pure: counts and definitions in, sentences out.
import type { Definition } from './crd.ts';
import { type GroupResource, resourceName } from './place.ts';
import { isOf, type Row } from './tally.ts';

/**
 * `storage`: what is written now. `removable`: nothing is stored in it. `in-use`: something is.
 * `broken`: something is, and the CRD has the version no more. `unknown`: values hide theirs.
 */
export type Standing = 'storage' | 'removable' | 'in-use' | 'broken' | 'unknown';

export interface VersionVerdict {
  readonly version: string;
  readonly standing: Standing;
  /** Values that are stored in it. */
  readonly count: number;
  readonly isInSpec: boolean;
  readonly isInStoredVersions: boolean;
  /** A whole sentence. */
  readonly says: string;
}

export interface ResourceVerdict extends GroupResource {
  readonly versions: readonly VersionVerdict[];
}

export function verdictOn(definition: Definition, rows: readonly Row[]): ResourceVerdict {
  const { group, resource, versions: defined, storedVersions } = definition;
  const own = rows.filter((row) => isOf(row, definition));
  const found = own.flatMap(({ version }) => (version === undefined ? [] : [version]));
  const names = new Set([...defined.map(({ name }) => name), ...storedVersions, ...found]);
  const versions = [...names].map((version) => versionVerdict(version, definition, own));
  return { group, resource, versions };
}

function versionVerdict(
  version: string,
  definition: Definition,
  rows: readonly Row[],
): VersionVerdict {
  const defined = definition.versions.find(({ name }) => name === version);
  const isInSpec = defined !== undefined;
  const isInStoredVersions = definition.storedVersions.includes(version);
  const stored = sum(rows.filter((row) => row.version === version));
  const hidden = sum(rows.filter((row) => row.version === undefined));
  const standing = standingOf(stored, hidden, isInSpec, defined?.storage ?? false);
  const about = { version, standing, count: stored.count, isInSpec, isInStoredVersions };
  return { ...about, says: sentence(about, definition, stored, hidden) };
}

function standingOf(stored: Sum, hidden: Sum, isInSpec: boolean, isStorage: boolean): Standing {
  if (stored.count > 0 && !isInSpec) return 'broken';
  if (isStorage) return 'storage';
  if (stored.count > 0) return 'in-use';
  return hidden.count > 0 ? 'unknown' : 'removable';
}

function sentence(
  { version, standing, isInSpec, isInStoredVersions }: Omit<VersionVerdict, 'says'>,
  definition: Definition,
  stored: Sum,
  hidden: Sum,
): string {
  switch (standing) {
    case 'storage': {
      const missing = isInStoredVersions ? '' : ', although status.storedVersions lacks it';
      return `${version} is the storage version${missing}: ${are(stored)} stored in it.`;
    }
    case 'broken':
      return (
        `${version} is not in the CRD any more, but ${are(stored)} stored in it${such(stored)}: ` +
        `no list of ${resourceName(definition)} can succeed. Add the version back and migrate.`
      );
    case 'in-use':
      return `${version} may not be removed, because ${are(stored)} stored in it${such(stored)}.`;
    case 'unknown':
      return (
        `It cannot be told whether ${version} may be removed, because ${are(hidden)} stored ` +
        `encrypted or unreadable${such(hidden)}.`
      );
    case 'removable': {
      const what = isInSpec ? 'may be removed' : 'is gone from the CRD';
      const first = isInStoredVersions ? '; trim status.storedVersions, which lists it, first' : '';
      return `${version} ${what}: nothing is stored in it${first}.`;
    }
    default:
      return standing satisfies never;
  }
}

interface Sum {
  readonly count: number;
  readonly examples: readonly string[];
}

const sum = (rows: readonly Row[]): Sum => ({
  count: rows.reduce((total, { count }) => total + count, 0),
  examples: rows.flatMap(({ examples }) => examples).toSorted(),
});

export const are = ({ count }: { readonly count: number }): string =>
  count === 1 ? '1 object is' : `${count} objects are`;

const such = ({ examples: [first] }: Sum): string =>
  first === undefined ? '' : `, such as ${first}`;
