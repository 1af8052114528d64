// Reads what a rehearsal has said of itself. Anybody who may write pods in the namespace could have
// said it, so it is believed only in the form that our program gives it. Pure.
import type {
  Rehearsal,
  StoredVersion,
  StoredVersions,
  Unreadable,
} from '../../../shared/api/etcd-backup.ts';
import { isLongerThan } from '../../../shared/cut.ts';
import { isRecord } from '../../../shared/kube/json.ts';
import { STORED_VERSIONS_MAX, UNREADABLE_BYTES_MAX } from './stored-versions.ts';

type Fields = Readonly<Record<string, unknown>>;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const DECIMAL = /^\d{1,20}$/;
/** A name of Kubernetes, or two with something between them. */
const NAME = /^[\w./:-]{1,320}$/;

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

const matches = (value: unknown, form: RegExp): value is string =>
  typeof value === 'string' && form.test(value);

/** Undefined for what our program would not have said. */
export function rehearsalIn(said: Fields): Rehearsal | undefined {
  const { rehearsedAt, durationSeconds, keys, revision, hashKv } = said;
  const { storedVersions, unreadable } = said;
  if (!matches(rehearsedAt, TIME) || Number.isNaN(Date.parse(rehearsedAt))) return undefined;
  if (!matches(revision, DECIMAL) || !isCount(durationSeconds)) return undefined;
  if (!isCount(keys) || !isCount(hashKv)) return undefined;
  const rehearsal = { rehearsedAt, durationSeconds, keys, revision, hashKv };
  if (storedVersions === undefined) return rehearsal;
  const versions = isRecord(storedVersions) ? storedVersionsIn(storedVersions) : undefined;
  if (versions === undefined) return undefined;
  if (unreadable === undefined) return { ...rehearsal, storedVersions: versions };
  const others = isRecord(unreadable) ? unreadableIn(unreadable) : undefined;
  return others && { ...rehearsal, storedVersions: versions, unreadable: others };
}

function unreadableIn({ objects, such }: Fields): Unreadable | undefined {
  if (!isCount(objects) || typeof such !== 'string') return undefined;
  return isLongerThan(such, UNREADABLE_BYTES_MAX) ? undefined : { objects, such };
}

function storedVersionsIn({ objects, total, most }: Fields): StoredVersions | undefined {
  if (!isCount(objects) || !isCount(total) || !Array.isArray(most)) return undefined;
  const versions = most
    .slice(0, STORED_VERSIONS_MAX)
    .flatMap((one) => (isRecord(one) ? (storedVersionIn(one) ?? []) : []));
  return versions.length === most.length ? { objects, total, most: versions } : undefined;
}

function storedVersionIn({ resource, version, objects }: Fields): StoredVersion | undefined {
  if (!matches(resource, NAME) || !matches(version, NAME) || !isCount(objects)) return undefined;
  return { resource, version, objects };
}
