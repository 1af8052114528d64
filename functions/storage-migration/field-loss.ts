// Before anything is written: would any object lose a field, because the version in which it is to
// be stored has no place for it. Answers which fields and how many objects, and what to do.
import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import type { Migration } from './migration.ts';
import { nameOf } from './rewrite.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { fieldsWithout, isAccepted, lostFields } from './schema-loss.ts';
import type { Crd, Target } from './observe.ts';

const PAGE_SIZE = 500;

export interface FieldScan {
  readonly kube: KubeClient;
  readonly target: Target;
  /** Whether there is no time left in this request. */
  readonly isTimeOver: () => boolean;
  readonly signal: AbortSignal;
}

/** Without a webhook a field that the stored version does not have is dropped without a word. */
export async function lossOfFields(
  { target: { ref, crd, version }, ...scan }: FieldScan,
  { spec: { acceptedLoss = [] } }: Migration,
): Promise<Reason | undefined> {
  if (crd === undefined || crd.hasWebhook) return undefined;
  const schemaOf = (name: string) =>
    crd.versions.find((one) => one.name === name)?.schema?.openAPIV3Schema;
  const after = schemaOf(version);
  const isNews = (path: string): boolean => !isAccepted(path, acceptedLoss);
  for (const old of crd.versions.filter(({ name }) => name !== version)) {
    if (!crd.storedVersions.includes(old.name)) continue;
    const fields = lostFields(schemaOf(old.name), after).filter(isNews);
    if (fields.length === 0) continue;
    if (!old.served) return uncheckedLoss(crd, old.name, version, fields);
    const lostOf = (object: KubeObject) => fieldsWithout(object, after).filter(isNews);
    const found = await findLoss(scan, { ...ref, version: old.name }, lostOf);
    if (found.objects > 0) return loss(crd, version, found);
    if (!found.isWhole) return unfinished(crd, version, fields, found.checked);
  }
  return undefined;
}

interface Loss {
  readonly fields: readonly string[];
  readonly objects: number;
  readonly example: string;
  /** Objects that were looked at, and whether these are all. */
  readonly checked: number;
  readonly isWhole: boolean;
}

/** In their old version objects still show what they have. */
async function findLoss(
  { kube, isTimeOver, signal }: Omit<FieldScan, 'target'>,
  ref: ResourceRef,
  lostOf: (object: KubeObject) => readonly string[],
): Promise<Loss> {
  const lost = new Set<string>();
  let [objects, checked, isWhole] = [0, 0, true];
  let example = '';
  const pages = kube.pages(ref, { limit: PAGE_SIZE, onExpired: 'inconsistent', signal });
  for await (const { items, metadata } of pages) {
    for (const object of items) {
      const own = lostOf(object);
      if (own.length === 0) continue;
      objects += 1;
      example ||= nameOf(object.metadata);
      for (const field of own) lost.add(field);
    }
    checked += items.length;
    isWhole = metadata.continue === undefined || metadata.continue === '';
    if (isTimeOver()) break;
  }
  return { fields: [...lost], objects, example, checked, isWhole };
}

/** A map may have lost any number of names. */
const FIELDS_NAMED_MAX = 20;

function loss({ name }: Crd, version: string, { isWhole, objects, ...found }: Loss): Reason {
  const { fields, example } = found;
  const count = `${isWhole ? '' : 'At least '}${objects}`;
  const more = fields.length - FIELDS_NAMED_MAX;
  const first = fields.slice(0, FIELDS_NAMED_MAX);
  const named = [...first, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
  const message =
    `${count} objects, such as ${example}, would lose ${named}, for which ${version} of CRD ` +
    `${name} has no place. Add the fields to its schema, or name them in spec.acceptedLoss.`;
  return { reason: 'FieldsWouldBeLost', message };
}

function unfinished(
  { name }: Crd,
  version: string,
  fields: readonly string[],
  checked: number,
): Reason {
  const message =
    `Objects may have ${fields.join(', ')}, for which ${version} of CRD ${name} has no place. ` +
    `The first ${checked} have not; there was no time to look at the rest. Add the fields to its ` +
    'schema, name them in spec.acceptedLoss, or give the function more WORK_SECONDS.';
  return { reason: 'FieldsUnchecked', message };
}

function uncheckedLoss(
  { name }: Crd,
  old: string,
  version: string,
  fields: readonly string[],
): Reason {
  const message =
    `Objects may have ${fields.join(', ')}, for which ${version} of CRD ${name} has no place, ` +
    `and ${old} is not served, so nobody can look. Serve it, or name the fields ` +
    'in spec.acceptedLoss.';
  return { reason: 'FieldsWouldBeLost', message };
}
