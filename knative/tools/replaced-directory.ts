// A directory that is written beside its place and put there whole. One that is there already is
// replaced only when it has a file that such directories have.
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';

export interface Replaced {
  readonly directory: string;
  /** The file by which a former one is known. */
  readonly mark: string;
  readonly is: string;
}

/** Resolves with what `fill` tells. */
export async function replaceDirectory<Told>(
  { directory, mark, is }: Replaced,
  fill: (unfinished: string) => Promise<Told>,
): Promise<Told> {
  const entries = await readdir(directory).catch((): string[] => []);
  // A typing error in a path must not cost anybody a directory.
  if (entries.length > 0 && !entries.includes(mark)) {
    throw new Error(`${directory} holds something else than ${is}; name another directory.`);
  }
  const unfinished = `${resolve(directory)}.${randomUUID()}`;
  try {
    await mkdir(unfinished, { recursive: true });
    const told = await fill(unfinished);
    await rm(directory, { recursive: true, force: true });
    await rename(unfinished, directory);
    return told;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
