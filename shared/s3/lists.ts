// Lists of a bucket, read to their end: the keys that begin in one way, and the uploads that are
// under way. A storage tells a thousand of them at once.
import { failureFromOdd, S3Failure } from './errors.ts';
import type { Transport } from './transport.ts';
import { elementsIn, textIn } from './xml.ts';

export interface Listed {
  readonly keys: readonly string[];
  /** False when there are more. */
  readonly isWhole: boolean;
}

export interface Upload {
  readonly key: string;
  readonly id: string;
}

export interface UploadUnderWay extends Upload {
  readonly initiatedMs: number;
}

/** S3 tells no more at once. */
const PAGE_MAX = 1_000;
/** A hundred thousand entries, with keys of the longest kind a hundred megabytes. */
const PAGES_MAX = 100;

export async function listKeys(
  transport: Transport,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<Listed> {
  const keys: string[] = [];
  const query = { 'list-type': '2', prefix, 'max-keys': `${PAGE_MAX}` };
  const list = { what: `Listing ${placeOf(transport, prefix)}`, query, next: nextKeys };
  for await (const text of pages(transport, list, signal)) {
    if (text === undefined) return { keys, isWhole: false };
    keys.push(...elementsIn(text, 'Contents').flatMap((one) => textIn(one, 'Key') ?? []));
  }
  return { keys, isWhole: true };
}

export async function listUploads(
  transport: Transport,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<readonly UploadUnderWay[]> {
  const uploads: UploadUnderWay[] = [];
  const place = placeOf(transport, prefix);
  const query = { uploads: '', prefix, 'max-uploads': `${PAGE_MAX}` };
  const list = { what: `Listing the uploads under ${place}`, query, next: nextUploads };
  for await (const text of pages(transport, list, signal)) {
    if (text === undefined) {
      const message =
        `More than ${PAGE_MAX * PAGES_MAX} uploads to ${place} are under way. Abort those that ` +
        'are old: a lifecycle rule of the bucket can.';
      throw new S3Failure('S3_REFUSED', message, place);
    }
    uploads.push(...elementsIn(text, 'Upload').flatMap(uploadIn));
  }
  return uploads;
}

function uploadIn(xml: string): UploadUnderWay[] {
  const [key, id] = [textIn(xml, 'Key'), textIn(xml, 'UploadId')];
  if (key === undefined || id === undefined) return [];
  return [{ key, id, initiatedMs: Date.parse(textIn(xml, 'Initiated') ?? '') }];
}

interface List {
  readonly what: string;
  readonly query: Readonly<Record<string, string>>;
  /** Where the next page begins. */
  readonly next: (text: string) => Readonly<Record<string, string>>;
}

/** Undefined in the place of a page when there are more than are read. */
async function* pages(
  transport: Transport,
  { what, query, next }: List,
  signal: AbortSignal | undefined,
): AsyncGenerator<string | undefined, void, undefined> {
  let from: Readonly<Record<string, string>> = {};
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const request = { method: 'GET', query: { ...query, ...from }, what } as const;
    const { text } = await transport.send(request, signal);
    yield text;
    if (textIn(text, 'IsTruncated') !== 'true') return;
    const before = JSON.stringify(from);
    from = next(text);
    if (JSON.stringify(from) === before || Object.keys(from).length === 0) {
      const { bucket, endpoint } = transport;
      const about = { what, object: `s3://${bucket}`, endpoint };
      throw failureFromOdd(about, 'a list that does not go on');
    }
  }
  yield undefined;
}

const nextKeys = (text: string) => given({ 'continuation-token': 'NextContinuationToken' }, text);

const nextUploads = (text: string) =>
  given({ 'key-marker': 'NextKeyMarker', 'upload-id-marker': 'NextUploadIdMarker' }, text);

function given(names: Readonly<Record<string, string>>, text: string) {
  return Object.fromEntries(
    Object.entries(names).flatMap(([parameter, element]) => {
      const value = textIn(text, element) ?? '';
      return value === '' ? [] : [[parameter, value] as const];
    }),
  );
}

const placeOf = ({ bucket }: Transport, prefix: string): string => `s3://${bucket}/${prefix}`;
