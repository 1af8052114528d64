// The findings of an audit in sentences: objects in an old version, and parts that could not be
// read. Pure.
import { KUBERNETES, versionsWritten, type GroupResource } from './built-in.ts';
import { isBuiltIn, resourceName, shownVersion } from './place.ts';
import { idOf, type Row, type Tally } from './tally.ts';
import { are, type ResourceVerdict } from './verdict.ts';

interface Findings {
  readonly old: readonly string[];
  readonly unknown: readonly string[];
  /** Trouble to come, which does not change the outcome. */
  readonly warnings: readonly string[];
}

interface AuditQuery {
  readonly prefixes: readonly string[];
  /** Everything when absent. */
  readonly resources?: readonly GroupResource[] | undefined;
}

export function findingsOf(
  rows: readonly Row[],
  verdicts: readonly ResourceVerdict[],
  tally: Tally,
  query: AuditQuery,
): Findings {
  const defined = new Set(tally.definitions.map(idOf));
  // The rows of each resource that nothing in etcd defines.
  const others = [...Map.groupBy(rows, idOf)]
    .filter(([id]) => !defined.has(id))
    .map(([, own]): Undefined => ({ name: nameOf(own), own }));
  return {
    old: [
      ...verdicts.flatMap((verdict) => saidOf(verdict, 'in-use', 'broken')),
      ...others.flatMap(mixed),
    ],
    unknown: [
      ...nothing(tally, query),
      ...misplaced(tally),
      ...others.flatMap(undefinedOnes),
      ...others.flatMap(foreign),
      ...uncounted(rows, tally, query),
      ...unread(tally),
      ...encrypted(rows),
      ...strays(tally),
    ],
    warnings: verdicts.flatMap((verdict) => saidOf(verdict, 'named')),
  };
}

interface Undefined {
  readonly name: string;
  readonly own: readonly Row[];
}

const nameOf = ([first]: readonly Row[]): string =>
  first === undefined ? '' : resourceName(first);

const saidOf = (verdict: ResourceVerdict, ...standings: readonly string[]): readonly string[] =>
  verdict.versions
    .filter(({ standing }) => standings.includes(standing))
    .map(({ says }) => `${resourceName(verdict)}: ${says}`);

/** How many are stored in each version; of what hides its version nothing. */
function versionsOf(own: readonly Row[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { apiVersion, count } of own) {
    if (apiVersion !== undefined) counts.set(apiVersion, (counts.get(apiVersion) ?? 0) + count);
  }
  return counts;
}

/** etcd does not say which version of a built-in kind is written, but two are one too many. */
function mixed({ name, own }: Undefined): readonly string[] {
  const counts = versionsOf(own);
  if (counts.size < 2) return [];
  const each = [...counts].map(([version, count]) => `${shown(own, version)} (${count})`);
  return [`${name}: stored in several versions, and at most one is new: ${each.join(', ')}.`];
}

const shown = ([first]: readonly Row[], version: string): string =>
  first === undefined ? version : shownVersion(first, version);

/** Kubernetes' own kinds have known versions; another one in etcd may be an old one. */
function foreign({ name, own }: Undefined): readonly string[] {
  const [first] = own;
  const [only, another] = versionsOf(own);
  if (first === undefined || only === undefined || another !== undefined) return [];
  const [version, count] = only;
  const written = versionsWritten(first);
  if (!isBuiltIn(first) || written.includes(version)) return [];
  return [
    `${name}: ${are({ count })} stored as ${version}, and Kubernetes ${KUBERNETES} writes ` +
      `${written.join(' or ')}: whether your API server still writes the former is not in etcd.`,
  ];
}

function nothing({ placedCount, elsewhere }: Tally, { resources }: AuditQuery): readonly string[] {
  if (placedCount > 0) return [];
  if (elsewhere.count === 0) {
    // For a resource that was asked for, `unseen` says more.
    if (resources !== undefined) return [];
    return ['There is no key at all: see that this is the etcd of an API server.'];
  }
  const such = elsewhere.examples.join(', ');
  return [`No key is under a prefix that was looked at, ${elsewhere.count} are not: ${such}.`];
}

/** An API server may keep its keys under a prefix that begins as ours does. */
function misplaced({ otherPrefixes }: Tally): readonly string[] {
  if (otherPrefixes.length === 0) return [];
  const name = otherPrefixes.length === 1 ? 'it as a prefix' : 'them as prefixes';
  return [`CustomResourceDefinitions are under ${otherPrefixes.join(', ')} too: name ${name}.`];
}

/** All in one version, and nobody says whether that is the new one. */
function undefinedOnes({ name, own }: Undefined): readonly string[] {
  if (own.some(isBuiltIn)) return [];
  const count = own.reduce((sum, row) => sum + row.count, 0);
  const versions = own.map(({ apiVersion }) =>
    apiVersion === undefined ? 'what cannot be read' : shown(own, apiVersion),
  );
  return [
    `${name}: ${are({ count })} stored as ${[...new Set(versions)].join(', ')}, and no ` +
      'CustomResourceDefinition says which version is written: see that all of etcd was read, ' +
      "and that the prefix is the API server's own.",
  ];
}

/** A wrong name, or a wrong prefix, is not the same as nothing that is stored. */
function uncounted(
  rows: readonly Row[],
  { definitions, placedCount }: Tally,
  { resources = [], prefixes }: AuditQuery,
): readonly string[] {
  const counted = new Set([...rows, ...definitions].map(idOf));
  const isSeen = (one: GroupResource): boolean =>
    counted.has(idOf(one)) || (placedCount > 0 && isBuiltIn(one));
  return resources
    .filter((one) => !isSeen(one))
    .map(
      (one) =>
        `${resourceName(one)}: neither a value nor a CustomResourceDefinition of it is under ` +
        `${prefixes.join(', ')}: see that this is its name, and where the API server keeps its ` +
        'keys.',
    );
}

function unread({ unreadable, hasHiddenDefinition }: Tally): readonly string[] {
  const { count, examples } = unreadable;
  const such = count > examples.length ? ', such as: ' : ': ';
  const values = count === 1 ? '1 value cannot be read' : `${count} values cannot be read`;
  return [
    ...(count === 0 ? [] : [`${values}${such}${examples.join('; ')}.`]),
    ...(hasHiddenDefinition
      ? ['A CustomResourceDefinition cannot be read, so its versions have no verdict.']
      : []),
  ];
}

function encrypted(rows: readonly Row[]): readonly string[] {
  return rows
    .filter(({ encoding, apiVersion }) => encoding === 'encrypted' && apiVersion === undefined)
    .map((row) => {
      const { provider, keyName, count, examples } = row;
      const such = examples[0] === undefined ? '' : `, such as ${examples[0]}`;
      const how = `encrypted (${provider}, key ${keyName})`;
      return `${resourceName(row)}: ${count} stored ${how}${such}: the version is inside.`;
    });
}

/** Without a hash a letter of a key may be another, and its object in nobody's place. */
function strays({ strayCount, elsewhere }: Tally): readonly string[] {
  if (strayCount === 0) return [];
  const such = elsewhere.examples.join(', ');
  return [
    `The file has no hash that would show a changed letter, and under none of the prefixes there ` +
      `are objects, ${strayCount} in all, among keys such as ${such}: name their prefix, or take ` +
      'a snapshot (etcdctl snapshot save).',
  ];
}
