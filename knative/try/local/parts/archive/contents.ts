// The first file of an archive of parts: which platform they are for, and which binaries follow, in
// which order, by group, size and hash.
import { isGroup } from '../catalog.ts';
import type { PartGroup } from '../part-entry.ts';

export const CONTENTS = 'ballast-parts.json';
export const BINARY_MODE = 0o755;
export const CONTENTS_MODE = 0o644;

export interface ArchivedGroup {
  readonly group: PartGroup;
  /** The name of its directory in the cache, which follows from all that its build depends on. */
  readonly key: string;
  readonly go: string;
  readonly binaries: readonly ArchivedBinary[];
}

export interface ArchivedBinary {
  readonly name: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface ArchiveContents {
  readonly platform: string;
  readonly groups: readonly ArchivedGroup[];
}

/** Nothing of the archive was taken. */
export class ArchiveRefused extends Error {
  override readonly name = 'ArchiveRefused';
}

export function parseContents(text: string): ArchiveContents {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isContents(parsed)) return parsed;
  } catch {
    // Told below, as all that is no such file.
  }
  throw new ArchiveRefused(`it has no ${CONTENTS} that this version of Ballast reads`);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isContents = (value: unknown): value is ArchiveContents =>
  isRecord(value) &&
  typeof value['platform'] === 'string' &&
  Array.isArray(value['groups']) &&
  value['groups'].every((group) => isArchivedGroup(group));

const isArchivedGroup = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value['group'] === 'string' &&
  isGroup(value['group']) &&
  typeof value['key'] === 'string' &&
  typeof value['go'] === 'string' &&
  Array.isArray(value['binaries']) &&
  value['binaries'].every((binary) => isBinary(binary));

const isBinary = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value['name'] === 'string' &&
  /^[0-9a-f]{64}$/.test(String(value['sha256'])) &&
  Number.isSafeInteger(value['sizeBytes']) &&
  Number(value['sizeBytes']) >= 0;
