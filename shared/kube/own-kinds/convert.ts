// Converts one object: each part that the versions say differently, and in the metadata nothing but
// our own annotations. Pure, and total: an object that the rules of a version would refuse is
// converted as well, so that it can be read and deleted.
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../json.ts';
import { annotationOf, type Kept, readKept, writtenKept } from './kept.ts';
import { changeAt, type Fields, type Part, picked, without } from './part.ts';
import { apiVersionOf, type Version } from './versions.ts';

/** The API server takes no more in the annotations of an object, names included. */
const ANNOTATIONS_BYTES_MAX = 256 * 1024;

/** Why an object cannot be converted, and which field is at fault. */
export class Unconvertible extends Error {
  readonly field: string;

  /** `why` ends a sentence that begins with the field. */
  constructor(field: string, why: string) {
    super(`${field} ${why}`);
    this.name = 'Unconvertible';
    this.field = field;
  }
}

/** Throws `Unconvertible`. */
export function convertObject(
  object: Fields,
  parts: readonly Part[],
  from: Version,
  to: Version,
): Fields {
  if (from === to) return object;
  const metadata = metadataOf(object);
  const annotations = annotationsOf(metadata);
  const kept = readKept(annotations[annotationOf(to)]);
  const lost: Record<string, Fields> = {};
  const converted = saidIn(to, object, parts, kept, lost);
  const after = annotationsAfter(annotations, from, to, kept, lost);
  const base = { ...converted, apiVersion: apiVersionOf(to) };
  return after === annotations ? base : { ...base, metadata: withAnnotations(metadata, after) };
}

/**
 * The words of another version alone, for who writes no such object anywhere: nothing is kept
 * beside them, and so nothing can be too large.
 */
export function wordsIn(to: Version, object: Fields, parts: readonly Part[]): Fields {
  const { metadata } = object;
  const annotations = isRecord(metadata) ? metadata['annotations'] : undefined;
  const text = isRecord(annotations) ? annotations[annotationOf(to)] : undefined;
  return saidIn(to, object, parts, readKept(text), {});
}

function saidIn(
  to: Version,
  object: Fields,
  parts: readonly Part[],
  kept: Kept | undefined,
  lost: Record<string, Fields>,
): Fields {
  let converted = object;
  for (const part of parts) {
    converted = changeAt(part, converted, (record, path) =>
      said(part, to, record, { path: `${path}:${part.names[0]}`, kept, lost }),
    );
  }
  return converted;
}

interface Memory {
  readonly path: string;
  readonly kept: Kept | undefined;
  /** Collects the fields that have to be kept now. */
  readonly lost: Record<string, Fields>;
}

/** One record in the words of another version. */
function said(part: Part, to: Version, record: Fields, { path, kept, lost }: Memory): Fields {
  const { names } = part;
  const isUp = to === 'v1beta1';
  const there = (fields: Fields): Fields => (isUp ? part.up(fields) : part.down(fields));
  const back = (fields: Fields): Fields => (isUp ? part.down(fields) : part.up(fields));
  const before = picked(record, names);
  const own = Object.hasOwn(kept?.parts ?? {}, path) ? kept?.parts[path] : undefined;
  if (own === undefined && Object.keys(before).length === 0) return record;
  const plain = there(before);
  const after =
    own === undefined ? plain : remembered(part, picked(own, names), plain, before, back);
  if (!isDeepStrictEqual(back(after), before)) lost[path] = before;
  return { ...without(record, names), ...after };
}

function remembered(
  part: Part,
  own: Fields,
  plain: Fields,
  before: Fields,
  back: (fields: Fields) => Fields,
): Fields {
  if (isDeepStrictEqual(back(own), before)) return own;
  return part.refit?.(own, plain) ?? plain;
}

function metadataOf(object: Fields): Fields {
  const { metadata } = object;
  if (isRecord(metadata)) return metadata;
  throw new Unconvertible('metadata', 'is not an object');
}

function annotationsOf({ annotations }: Fields): Readonly<Record<string, string>> {
  if (annotations === undefined || annotations === null) return {};
  if (!isRecord(annotations)) throw new Unconvertible('metadata.annotations', 'is not an object');
  for (const [name, value] of Object.entries(annotations)) {
    if (typeof value !== 'string') {
      throw new Unconvertible(`metadata.annotations[${name.slice(0, 317)}]`, 'is not text');
    }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each of them was looked at
  return annotations as Readonly<Record<string, string>>;
}

/** The same record when none of ours comes or goes. */
function annotationsAfter(
  before: Readonly<Record<string, string>>,
  from: Version,
  to: Version,
  kept: Kept | undefined,
  lost: Readonly<Record<string, Fields>>,
): Readonly<Record<string, string>> {
  const [read, written] = [annotationOf(to), annotationOf(from)];
  const other = before[written];
  // Ours on the way back would be read for it; a text that is unreadable is left where it is.
  const isToWrite = Object.keys(lost).length > 0 || readKept(other) !== undefined;
  if (kept === undefined && !isToWrite) return before;
  const after = { ...before };
  if (kept !== undefined) {
    delete after[read];
    if (kept.other !== undefined) after[read] = kept.other;
  }
  if (isToWrite) {
    after[written] = writtenKept({ parts: lost, ...(other === undefined ? {} : { other }) });
    assertFits(after);
  }
  return after;
}

function assertFits(annotations: Readonly<Record<string, string>>): void {
  const sizeBytes = Object.entries(annotations).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
  if (sizeBytes <= ANNOTATIONS_BYTES_MAX) return;
  const why =
    `would have ${sizeBytes} bytes with what this version has no words for, and may have ` +
    `${ANNOTATIONS_BYTES_MAX}`;
  throw new Unconvertible('metadata.annotations', why);
}

const withAnnotations = (metadata: Fields, annotations: Fields): Fields =>
  Object.keys(annotations).length === 0
    ? without(metadata, ['annotations'])
    : { ...metadata, annotations };
