// Judges an upgrade by the two definitions and by how the objects are stored: versions, names,
// scope, conversion. Pure, and known without any server.
import { resourceName } from '../../../shared/stored/place.ts';
import type { Named } from '../../../shared/stored/tally.ts';
import { are, such } from '../../../shared/stored/verdict.ts';
import { type Crd, type CrdVersion, storageVersionOf, versionNamed } from './crd.ts';
import type { Reason } from './reason.ts';
import { flip, migration } from './remedies.ts';

/** How the objects of one CRD are stored. */
export interface Stored {
  readonly objects: number;
  /** By the name of the version; undefined where only etcd could tell. */
  readonly byVersion: ReadonlyMap<string, Named> | undefined;
  /** Objects whose managedFields name a version, by its name. */
  readonly inFields: ReadonlyMap<string, Named>;
  /** Values whose version cannot be read. */
  readonly hidden: Named;
}

interface Upgrade {
  readonly from: Crd;
  readonly to: Crd;
  readonly stored: Stored;
}

const NONE: Named = { count: 0, examples: [] };

export function compareCrds(upgrade: Upgrade): readonly Reason[] {
  const removed = upgrade.from.versions.filter(({ name }) => !versionNamed(upgrade.to, name));
  // A version that only the list or an object names was lost before, and stays lost.
  const others = [...upgrade.from.storedVersions, ...(upgrade.stored.byVersion?.keys() ?? [])];
  const lost = [...new Set(others)].filter(
    (name) => !versionNamed(upgrade.to, name) && !versionNamed(upgrade.from, name),
  );
  return [
    ...[...removed.map(({ name }) => name), ...lost].map((name) => removal(upgrade, name)),
    ...upgrade.from.versions.flatMap((version) => unserving(upgrade, version)),
    ...flipping(upgrade),
    ...renaming(upgrade),
    ...reconversion(upgrade),
    ...hiding(upgrade),
  ];
}

function removal(upgrade: Upgrade, version: string): Reason {
  const { from, to, stored } = upgrade;
  const isStorage = storageVersionOf(from) === version;
  const isListed = from.storedVersions.includes(version);
  const found = stored.byVersion?.get(version) ?? NONE;
  const named = stored.inFields.get(version) ?? NONE;
  const what = 'version-removed';
  if (!isStorage && !isListed && found.count === 0) {
    return { what, weight: 'note', says: unusedSentence(version, named), commands: [] };
  }
  const facts = [
    isListed ? 'which status.storedVersions of the existing CRD lists as stored' : '',
    isStorage ? 'which is its storage version' : '',
    found.count > 0 ? `in which ${are(found)} stored${such(found)}` : '',
  ].filter((fact) => fact !== '');
  const weight = isListed || isStorage ? 'unsafe' : 'unsafe-objects';
  const told =
    stored.byVersion !== undefined && found.count === 0
      ? ' Nothing is stored in it now, and the list goes by what once was.'
      : '';
  const next = isStorage ? nextStorage(from, to) : '';
  const removes = `the new CRD removes version ${version}`;
  const says = `Data could be lost: ${removes}, ${facts.join(' and ')}.`;
  return {
    what,
    weight,
    says: `${says}${told}${next}`,
    commands: removalCommands(from, to, isStorage),
    ...(found.count > 0 ? { objects: found } : {}),
  };
}

function removalCommands(from: Crd, to: Crd, isStorage: boolean): readonly string[] {
  const target = storageVersionOf(to);
  if (!isStorage) return migration(resourceName(from));
  if (versionNamed(from, target) === undefined) return [];
  return [flip(from, target), ...migration(resourceName(from))];
}

const nextStorage = (from: Crd, to: Crd): string =>
  versionNamed(from, storageVersionOf(to)) === undefined
    ? ` First apply a release that has it and ${storageVersionOf(to)}, with the latter as ` +
      'storage version, and migrate.'
    : '';

function unusedSentence(version: string, named: Named): string {
  const gone = `Version ${version} is removed: whoever still uses it gets a 404.`;
  if (named.count === 0) return gone;
  return (
    `${gone} The managedFields of ${named.count} objects name it${such(named)}: no server-side ` +
    'apply on these succeeds until a StorageMigration with cleanManagedFields takes it out of them.'
  );
}

function unserving({ to }: Upgrade, { name, served }: CrdVersion): readonly Reason[] {
  if (!served || versionNamed(to, name)?.served !== false) return [];
  const says = `Version ${name} is no longer served: whoever still uses it gets a 404.`;
  return [{ what: 'version-unserved', weight: 'note', says, commands: [] }];
}

function flipping({ from, to, stored }: Upgrade): readonly Reason[] {
  const [before, after] = [storageVersionOf(from), storageVersionOf(to)];
  if (before === after) return [];
  const objects =
    stored.objects === 0 ? 'there are no objects' : 'objects stay as they are until written';
  const says = `The storage version becomes ${after}, and was ${before}: ${objects}.`;
  const then =
    stored.objects === 0 ? '' : ` Once it is applied, migrate, so that ${before} may go.`;
  const commands = stored.objects === 0 ? [] : migration(resourceName(to));
  return [{ what: 'storage-flipped', weight: 'note', says: `${says}${then}`, commands }];
}

/** Scope, kind and plural are settled for as long as a CRD lives. */
function renaming({ from, to, stored }: Upgrade): readonly Reason[] {
  const reasons: Reason[] = [];
  const settled = 'and nobody may change that while the CRD exists: the API server refuses it';
  const instead = stored.objects > 0 ? ', and deleting the CRD deletes its objects' : '';
  const unsafe = { weight: 'unsafe', commands: [] } as const;
  if (from.scope !== to.scope) {
    const says = `The scope becomes ${to.scope}, and is ${from.scope}, ${settled}${instead}.`;
    reasons.push({ what: 'scope-changed', ...unsafe, says });
  }
  for (const name of ['kind', 'plural', 'listKind', 'singular'] as const) {
    if (from.names[name] === to.names[name]) continue;
    const isSettled = name === 'kind' || name === 'plural';
    const change = `${name} becomes ${to.names[name]}, and is ${from.names[name]}`;
    const says = isSettled
      ? `The ${change}, ${settled}${instead}.`
      : `The ${change}: clients that know the old one find nothing by it.`;
    const weight = isSettled ? 'unsafe' : 'note';
    reasons.push({ what: 'names-changed', weight, says, commands: [] });
  }
  return reasons;
}

function reconversion({ from, to, stored }: Upgrade): readonly Reason[] {
  const what = 'conversion-changed';
  if (from.conversion.isWebhook === to.conversion.isWebhook) return movedWebhook(from, to);
  if (to.conversion.isWebhook) {
    const says = 'Conversion becomes that of a webhook; until now only apiVersion was exchanged.';
    return [{ what, weight: 'note', says, commands: [] }];
  }
  const ends = 'The webhook converts no more: of an object in another version than is asked for ';
  const kept = 'only apiVersion is exchanged';
  const target = storageVersionOf(to);
  const others = [...(stored.byVersion ?? [])].filter(([version]) => version !== target);
  const count = others.reduce((sum, [, found]) => sum + found.count, 0);
  const commands = migration(resourceName(from));
  if (count > 0) {
    const objects = { count, examples: others.flatMap(([, found]) => found.examples) };
    const says = `${ends}${kept}, and ${are(objects)} stored in another one than ${target}.`;
    return [{ what, weight: 'unsafe-objects', says, commands, objects }];
  }
  if (stored.byVersion !== undefined || stored.objects === 0) {
    return [{ what, weight: 'note', says: `${ends}${kept}.`, commands: [] }];
  }
  const only = `, and whether any is stored in another one than ${target} only etcd tells`;
  return [{ what, weight: 'unknown', says: `${ends}${kept}${only}.`, commands }];
}

function movedWebhook(from: Crd, to: Crd): readonly Reason[] {
  const [before, after] = [from, to].map(({ conversion: { service } }) =>
    service === undefined ? 'a URL' : `Service ${service.namespace}/${service.name}`,
  );
  if (!to.conversion.isWebhook || before === after) return [];
  const says = `The conversion webhook becomes ${after}, and was ${before}.`;
  return [{ what: 'conversion-changed', weight: 'note', says, commands: [] }];
}

function hiding({ stored: { hidden } }: Upgrade): readonly Reason[] {
  if (hidden.count === 0) return [];
  const says =
    `${are(hidden)} stored encrypted or unreadable${such(hidden)}: neither their version ` +
    'nor what they hold could be looked at. Ask the API server, with --kube.';
  return [{ what: 'not-checked', weight: 'unknown', says, commands: [], objects: hidden }];
}

/** Names and kinds that another definition has already. */
export function compareWithOthers(
  to: Crd,
  others: readonly Pick<Crd, 'name' | 'group' | 'names'>[],
): readonly Reason[] {
  const all = ({ names }: Pick<Crd, 'names'>): readonly string[] => [
    names.plural,
    names.singular,
    ...names.shortNames,
  ];
  return others.flatMap((other): readonly Reason[] => {
    if (other.name === to.name) return [];
    const kinds = [other.names.kind, other.names.listKind];
    const taken = [
      ...[to.names.kind, to.names.listKind].filter((name) => kinds.includes(name)),
      ...all(to).filter((name) => all(other).includes(name)),
    ];
    if (other.group === to.group && taken.length > 0) {
      const says = `${taken[0]} is a name of ${other.name} already: the new CRD is never served.`;
      return [{ what: 'name-taken', weight: 'unsafe', says, commands: [] }];
    }
    if (other.names.kind !== to.names.kind || other.names.plural !== to.names.plural) return [];
    const says =
      `${other.name} has a kind of this name in another group: its objects stay there, and ` +
      'do not become objects of the new one.';
    return [{ what: 'kind-elsewhere', weight: 'note', says, commands: [] }];
  });
}
