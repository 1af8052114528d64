// Ranges of keys as etcd takes them: from a key up to another that is no longer in it.

/** Every key from the first on. */
const TO_THE_END = Buffer.of(0);

/** The first key that there can be: etcd takes none that is empty. */
export const startOf = (prefix: string): Buffer => Buffer.from(prefix === '' ? '\0' : prefix);

/** The first key that does not begin with the prefix; every key there is for an empty one. */
export function endOf(prefix: string | Buffer): Buffer {
  const bytes = Buffer.from(prefix);
  const last = bytes.findLastIndex((byte) => byte < 0xff);
  if (last === -1) return TO_THE_END;
  const end = Buffer.from(bytes.subarray(0, last + 1));
  end[last] = (end[last] ?? 0) + 1;
  return end;
}
