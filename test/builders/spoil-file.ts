// Spoils a file of etcd as a disk does that gives back other bytes than it was given. Its head
// stays as it is, so that etcd takes the file for what it was.
import { open, readFile } from 'node:fs/promises';

const HEAD_BYTES = 8_192;

export async function spoilFile(path: string): Promise<void> {
  const bytes = await readFile(path);
  // Files are made long before they are full.
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
  const from = Math.min(HEAD_BYTES, Math.floor(end / 2));
  const wrong = bytes.subarray(from, end).map((byte) => byte ^ 0xff);
  const file = await open(path, 'r+');
  try {
    await file.write(wrong, 0, wrong.length, from);
  } finally {
    await file.close();
  }
}
