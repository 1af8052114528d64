// The parts of an upload, in the words by which a storage is told to put them together. Pure.
import { escaped } from './xml.ts';

export interface Part {
  readonly number: number;
  readonly etag: string;
  /** Base64; undefined when the storage has not said that it keeps it. */
  readonly sha256: string | undefined;
}

export function completionOf(parts: readonly Part[]): Buffer {
  const each = parts.map(partXml).join('');
  return Buffer.from(`<CompleteMultipartUpload>${each}</CompleteMultipartUpload>`);
}

function partXml({ number, etag, sha256 }: Part): string {
  const sum = sha256 === undefined ? '' : `<ChecksumSHA256>${sha256}</ChecksumSHA256>`;
  return `<Part><PartNumber>${number}</PartNumber><ETag>${escaped(etag)}</ETag>${sum}</Part>`;
}
