// What an audit has found, in sentences: what is stored in an old version, and what could not be
// told. Pure.
import { type GroupResource, isBuiltIn, resourceName } from './place.ts';
import { isOf, type Row, type Tally } from './tally.ts';
import { are, type ResourceVerdict } from './verdict.ts';

interface Findings {
  readonly old: readonly string[];
  readonly unknown: readonly string[];
}

interface Asked {
  readonly prefixes: readonly string[];
  /** Everything when absent. */
  readonly resources?: readonly GroupResource[] | undefined;
}

export function findingsOf(
  rows: readonly Row[],
  verdicts: readonly ResourceVerdict[],
  tally: Tally,
  asked: Asked,
): Findings {
  return {
    old: [
      ...verdicts.flatMap((verdict) => oldOnes(verdict)),
      ...mixed(rows.filter((row) => !verdicts.some((verdict) => isOf(row, verdict)))),
    ],
    unknown: [
      ...nothing(tally, asked),
      ...misplaced(tally),
      ...undefinedOnes(rows, tally),
      ...unseen(rows, tally, asked),
      ...unread(tally),
      ...encrypted(rows),
    ],
  };
}

const oldOnes = (verdict: ResourceVerdict): readonly string[] =>
  verdict.versions
    .filter(({ standing }) => standing === 'in-use' || standing === 'broken')
    .map(({ says }) => `${resourceName(verdict)}: ${says}`);

/** etcd does not say which version of a built-in kind is written, but two are one too many. */
function mixed(rows: readonly Row[]): readonly string[] {
  const told = rows.filter(({ version }) => version !== undefined);
  return [...Map.groupBy(told, resourceName)].flatMap(([name, own]) => {
    const counts = Map.groupBy(own, ({ version = '' }) => version);
    if (counts.size < 2) return [];
    const each = [...counts].map(
      ([version, of]) => `${version} (${of.reduce((sum, { count }) => sum + count, 0)})`,
    );
    return [`${name}: stored in several versions, and at most one is new: ${each.join(', ')}.`];
  });
}

function nothing({ placedCount, elsewhere }: Tally, { resources }: Asked): readonly string[] {
  if (placedCount > 0) return [];
  if (elsewhere.count === 0) {
    // Of a resource that was asked for, `unseen` says more.
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
function undefinedOnes(rows: readonly Row[], tally: Tally): readonly string[] {
  const custom = rows.filter(
    (row) => tally.isCustom(row) && !tally.definitions.some((one) => isOf(row, one)),
  );
  return [...Map.groupBy(custom, resourceName)].map(([name, own]) => {
    const count = own.reduce((sum, row) => sum + row.count, 0);
    const versions = new Set(own.map(({ version }) => version ?? 'what cannot be read'));
    return (
      `${name}: ${are({ count })} stored as ${[...versions].join(', ')}, and no ` +
      'CustomResourceDefinition says which version is written: see that all of etcd was read.'
    );
  });
}

/** A wrong name, or a wrong prefix, is not the same as nothing that is stored. */
function unseen(
  rows: readonly Row[],
  { definitions, placedCount }: Tally,
  { resources = [], prefixes }: Asked,
): readonly string[] {
  const isSeen = (one: GroupResource): boolean =>
    rows.some((row) => isOf(row, one)) ||
    definitions.some((definition) => isOf(definition, one)) ||
    (placedCount > 0 && isBuiltIn(one));
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
    .filter(({ encoding, version }) => encoding === 'encrypted' && version === undefined)
    .map((row) => {
      const { provider, keyName, count, examples } = row;
      const such = examples[0] === undefined ? '' : `, such as ${examples[0]}`;
      const how = `encrypted (${provider}, key ${keyName})`;
      return `${resourceName(row)}: ${count} stored ${how}${such}: the version is inside.`;
    });
}
