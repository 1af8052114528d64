// For each version of each custom resource: may it be removed from the CRD, may it not, or can it
// not be told, and why. Pure: counts and definitions in, sentences out.
import type { Definition } from './crd.ts';
import { apiVersionOf, resourceName, shownVersion } from './place.ts';
import type { GroupResource } from './built-in.ts';
import type { Named, Row } from './tally.ts';

/**
 * `old`: something is stored in another version than the one written now. `unknown`: nothing of
 * that was found, but not everything could be read.
 */
export type Outcome = 'clean' | 'old' | 'unknown';

/**
 * `storage`: what is written now. `removable`: nothing is stored in it. `named`: nothing is, but
 * managedFields name it. `in-use`: something is stored in it. `broken`: something is, and the CRD
 * has the version no more. `unknown`: values hide theirs.
 */
export type Standing = 'storage' | 'removable' | 'named' | 'in-use' | 'broken' | 'unknown';

export interface VersionVerdict {
  /** With its group. */
  readonly apiVersion: string;
  readonly standing: Standing;
  /** Values that are stored in it. */
  readonly count: number;
  /** Objects whose managedFields name it. */
  readonly fieldsCount: number;
  readonly isInSpec: boolean;
  readonly isInStoredVersions: boolean;
  /** A whole sentence. */
  readonly says: string;
}

export interface ResourceVerdict extends GroupResource {
  readonly outcome: Outcome;
  readonly versions: readonly VersionVerdict[];
}

/** Everything that was found about one resource. */
export interface Found {
  readonly rows: readonly Row[];
  /** The number of objects whose managedFields name a version, by version. */
  readonly fields: ReadonlyMap<string, Named>;
}

export function verdictOn(definition: Definition, { rows, fields }: Found): ResourceVerdict {
  const { group, resource, versions: defined, storedVersions } = definition;
  const names = [...defined.map(({ name }) => name), ...storedVersions];
  const stored = rows.flatMap(({ apiVersion }) => apiVersion ?? []);
  // Versions of other groups in managedFields do not belong to this definition.
  const named = [...fields.keys()].filter((version) => version.startsWith(`${group}/`));
  const all = [...names.map((name) => apiVersionOf(group, name)), ...stored, ...named];
  const hidden = sum(rows.filter(({ apiVersion }) => apiVersion === undefined));
  const versions = [...new Set(all)].map((apiVersion) => {
    const own = sum(rows.filter((row) => row.apiVersion === apiVersion));
    const inFields = fields.get(apiVersion) ?? NONE;
    return versionVerdict(definition, { apiVersion, stored: own, hidden, inFields });
  });
  const isOld = versions.some(({ standing }) => standing === 'in-use' || standing === 'broken');
  const outcome = isOld ? 'old' : hidden.count > 0 ? 'unknown' : 'clean';
  return { group, resource, outcome, versions };
}

interface Counts {
  readonly apiVersion: string;
  readonly stored: Named;
  readonly hidden: Named;
  readonly inFields: Named;
}

const NONE: Named = { count: 0, examples: [] };

function versionVerdict(definition: Definition, counts: Counts): VersionVerdict {
  const { apiVersion, stored, inFields } = counts;
  const isIt = (name: string): boolean => apiVersionOf(definition.group, name) === apiVersion;
  const defined = definition.versions.find(({ name }) => isIt(name));
  const isInSpec = defined !== undefined;
  const isInStoredVersions = definition.storedVersions.some(isIt);
  const standing = standingOf(counts, isInSpec, defined?.storage ?? false);
  const about = { standing, isInSpec, isInStoredVersions };
  return {
    apiVersion,
    ...about,
    count: stored.count,
    fieldsCount: inFields.count,
    says: sentence(about, definition, counts),
  };
}

function standingOf(
  { stored, hidden, inFields }: Counts,
  isInSpec: boolean,
  isStorage: boolean,
): Standing {
  if (stored.count > 0 && !isInSpec) return 'broken';
  if (isStorage) return 'storage';
  if (stored.count > 0) return 'in-use';
  if (hidden.count > 0) return 'unknown';
  return inFields.count > 0 ? 'named' : 'removable';
}

function sentence(
  {
    standing,
    isInSpec,
    isInStoredVersions,
  }: Pick<VersionVerdict, 'standing' | 'isInSpec' | 'isInStoredVersions'>,
  definition: Definition,
  { apiVersion, stored, hidden, inFields }: Counts,
): string {
  const version = shownVersion(definition, apiVersion);
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
    case 'named':
      return namedSentence(version, isInSpec, inFields);
    case 'removable': {
      const verdict = isInSpec ? 'may be removed' : 'is gone from the CRD';
      const first = isInStoredVersions ? '; trim status.storedVersions, which lists it, first' : '';
      return `${version} ${verdict}: nothing is stored in it${first}.`;
    }
    default:
      return standing satisfies never;
  }
}

/** To the API server, an apply is a conversion of these fields as well. */
function namedSentence(version: string, isInSpec: boolean, inFields: Named): string {
  const { count } = inFields;
  const holders = count === 1 ? '1 object names it' : `${count} objects name it`;
  const named = `the managedFields of ${holders}${such(inFields)}`;
  const way = 'a StorageMigration with cleanManagedFields takes it out of them';
  return isInSpec
    ? `${version} may not be removed yet: nothing is stored in it, but ${named}, and no ` +
        `server-side apply on these succeeds without it. Set served: false, then ${way}.`
    : `${version} is gone from the CRD, and nothing is stored in it, but ${named}: no ` +
        `server-side apply on these succeeds until ${way}.`;
}

const sum = (rows: readonly Row[]): Named => ({
  count: rows.reduce((total, { count }) => total + count, 0),
  examples: rows.flatMap(({ examples }) => examples).toSorted(),
});

export const are = ({ count }: { readonly count: number }): string =>
  count === 1 ? '1 object is' : `${count} objects are`;

export const such = ({ examples: [first] }: Named): string =>
  first === undefined ? '' : `, such as ${first}`;
