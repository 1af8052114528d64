// Which entries of an object's managedFields name a version that its CRD does not serve, and what
// the list has to be without them. Pure.
import {
  apiVersionOf,
  type KubeObject,
  type ManagedFieldsEntry,
} from '../../shared/kube/objects.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import type { Crd, Target } from './observe.ts';

type Entries = readonly ManagedFieldsEntry[];

/** Versions that are defined and not served count as well: they are the next to be removed. */
export function hasStaleFields(target: Target, object: KubeObject): boolean {
  return entriesOf(object).some((entry) => isStale(target, entry));
}

/** A version of this group that the CRD has not at all: every server-side apply fails on it. */
export function undefinedVersionIn(target: Target, object: KubeObject): string | undefined {
  const { crd } = target;
  const stale = entriesOf(object).filter((entry) => isStale(target, entry));
  const versions = stale.map(({ apiVersion }) => versionOf(apiVersion));
  return versions.find((version) => !crd?.versions.some(({ name }) => name === version));
}

/** Never empty: an empty list means to the API server that it is to think of one itself. */
export function withoutStale(target: Target, object: KubeObject, nowIso: string): Entries {
  const kept = entriesOf(object).filter((entry) => !isStale(target, entry));
  return kept.length > 0 ? kept : [seed(target, nowIso)];
}

/** Whether each of these entries is there, with whatever it owns by now. */
export function hasEntries(object: KubeObject, meant: Entries): boolean {
  const there = new Set(entriesOf(object).map(identityOf));
  return meant.every((entry) => there.has(identityOf(entry)));
}

const entriesOf = ({ metadata }: KubeObject): Entries => metadata.managedFields ?? [];

function isStale({ ref, crd }: Target, { apiVersion }: ManagedFieldsEntry): boolean {
  if (crd === undefined || typeof apiVersion !== 'string') return false;
  return apiVersion.startsWith(`${ref.group}/`) && !isServed(crd, versionOf(apiVersion));
}

const isServed = ({ versions }: Crd, version: string): boolean =>
  versions.some(({ name, served }) => served && name === version);

const versionOf = (apiVersion: unknown): string => String(apiVersion).split('/')[1] ?? '';

const identityOf = ({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string =>
  JSON.stringify([manager, operation, apiVersion, subresource]);

/**
 * Owns nothing that anybody sets. It is an Update, because the next apply of this function, which
 * names no field, would take an Apply of its own away, and leave the object with no entry.
 */
function seed({ ref }: Target, time: string): ManagedFieldsEntry {
  return {
    manager: FIELD_MANAGER,
    operation: 'Update',
    apiVersion: apiVersionOf(ref),
    time,
    fieldsType: 'FieldsV1',
    // Without a field the API server drops the entry.
    fieldsV1: { 'f:metadata': { 'f:name': {} } },
  };
}
