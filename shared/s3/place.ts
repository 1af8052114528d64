// The address of an object, as `s3://bucket/backups/etcd.db`. Keys that the path of a URL would
// turn into others are refused.

export interface Place {
  readonly bucket: string;
  readonly key: string;
}

const SCHEME = 's3://';
/** S3's own bound, in bytes; room for what is put beside an object is part of it. */
const KEY_BYTES_MAX = 1_000;

export const isPlace = (text: string): boolean => text.startsWith(SCHEME);

export const shownPlace = ({ bucket, key }: Place): string => `${SCHEME}${bucket}/${key}`;

/** Undefined, and why it is none. */
export function placeIn(text: string): Place | { readonly why: string } {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]*)\/?(.*)$/su.exec(text) ?? [];
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/i.test(bucket)) {
    return { why: 'the bucket is no name that S3 takes' };
  }
  if (key === '' || key.endsWith('/')) return { why: 'it names no object in the bucket' };
  if (Buffer.byteLength(key) > KEY_BYTES_MAX) {
    return { why: `its key has more than ${KEY_BYTES_MAX} bytes` };
  }
  if (/\p{Cc}/u.test(key) || !key.isWellFormed()) return { why: 'its key has control characters' };
  const isOdd = key.split('/').some((part) => part === '' || part === '.' || part === '..');
  return isOdd ? { why: 'its key has a part that is empty, "." or ".."' } : { bucket, key };
}
