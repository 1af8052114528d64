// Keeps in an annotation what an object said in one version, and the other has no words for. It
// counts for as long as the other version still says what was made of it.
import { isRecord, parseLossless } from '../json.ts';
import type { Fields } from './part.ts';
import type { Version } from './versions.ts';

/** On an object of one version: its own words in the other one. */
export const annotationOf = (version: Version): string => `ballast.dev/said-in-${version}`;

export interface Kept {
  /** Fields of a part, by the path of the record that has them. */
  readonly parts: Readonly<Record<string, Fields>>;
  /** The annotation of this name that was there already: somebody else's. */
  readonly other?: string;
}

/** Undefined for a text that was not written by `writtenKept`: it stays what it is. */
export function readKept(text: unknown): Kept | undefined {
  if (typeof text !== 'string') return undefined;
  const value = parsed(text);
  if (!isRecord(value) || !isRecord(value['parts'])) return undefined;
  const { parts, other } = value;
  if (!Object.values(parts).every(isRecord)) return undefined;
  if (other !== undefined && typeof other !== 'string') return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each of them was looked at
  return { parts: parts as Kept['parts'], ...(other === undefined ? {} : { other }) };
}

export const writtenKept = (kept: Kept): string => JSON.stringify(kept);

function parsed(text: string): unknown {
  try {
    return parseLossless(text);
  } catch {
    return undefined;
  }
}
