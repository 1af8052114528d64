// Spoils a file of etcd as a disk does that gives back other bytes than it was given. Its head
// stays as it is, so that etcd takes the file for what it was.
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const HEAD_BYTES = 8_192;
/** Before each record of a log: the length of its data, and how many bytes fill it up to eight. */
const LENGTH_BYTES = 8;

/** The only log of a member that has written little. */
export async function logOf(memberDir: string): Promise<string> {
  const dir = join(memberDir, 'wal');
  const files = (await readdir(dir)).filter((name) => name.endsWith('.wal'));
  if (files.length !== 1) throw new Error(`one log was expected in ${dir}: ${files.join(' ')}`);
  return join(dir, String(files[0]));
}

/** All of a database but its head. */
export async function spoilFile(path: string): Promise<void> {
  const bytes = await readFile(path);
  await invert(path, bytes, Math.min(HEAD_BYTES, Math.floor(endOf(bytes) / 2)));
}

/**
 * All of a log but its head, from the first or the last byte of a record on. etcd takes a wrong
 * length for the end of the log, and goes on with what stands before it, so no length comes first.
 */
export async function spoilLog(path: string, from: 'first' | 'last' = 'last'): Promise<void> {
  const bytes = await readFile(path);
  const head = Math.min(HEAD_BYTES, Math.floor(endOf(bytes) / 2));
  let at = 0;
  while (at < head) at += LENGTH_BYTES + dataBytes(bytes, at) + (bytes.readUInt8(at + 7) & 7);
  await invert(path, bytes, at + LENGTH_BYTES + (from === 'first' ? 0 : dataBytes(bytes, at) - 1));
}

const dataBytes = (log: Buffer, at: number): number => log.readUIntLE(at, 6);

/** Files are made long before they are full. */
const endOf = (bytes: Buffer): number => bytes.findLastIndex((byte) => byte !== 0) + 1;

async function invert(path: string, bytes: Buffer, from: number): Promise<void> {
  const wrong = bytes.subarray(from, endOf(bytes)).map((byte) => byte ^ 0xff);
  const file = await open(path, 'r+');
  try {
    await file.write(wrong, 0, wrong.length, from);
  } finally {
    await file.close();
  }
}
