// A file with one byte that is another one, whatever it was: a byte of what is sealed may be any.
export function withChangedByte(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
  return changed;
}
