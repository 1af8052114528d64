// The files of an image as a layer: sorted by path, each directory above them named, so that no two
// layers of the same files differ, whatever order and whatever machine they come from.
import { readdir, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { ImageFile } from './spec.ts';
import { fileContent, type TarContent, type TarEntry, tarOf } from './tar.ts';

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;
const PROGRAM_MODE = 0o755;
/** A link has no rights of its own; this is what every tar says. */
const LINK_MODE = 0o777;

export async function* layerOf(files: readonly ImageFile[]): AsyncGenerator<Uint8Array> {
  const entries = new Map<string, TarEntry>();
  for (const file of files) {
    const entry = await entryOf(file);
    if (entries.has(entry.path)) throw new Error(`The image has two files at ${file.path}.`);
    entries.set(entry.path, entry);
  }
  for (const path of entries.keys()) addParents(entries, path);
  const byPath = [...entries.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  yield* tarOf(byPath);
}

async function entryOf({ path, mode, from }: ImageFile): Promise<TarEntry> {
  if (!posix.isAbsolute(path) || posix.normalize(path) !== path || path.endsWith('/'))
    throw new Error(`${path} is no path in an image: it has to be absolute and plain.`);
  const { content, usualMode } = await contentOf(from);
  return { path: path.slice(1), mode: mode ?? usualMode, content };
}

async function contentOf(
  from: ImageFile['from'],
): Promise<{ content: TarContent; usualMode: number }> {
  if ('link' in from) return { content: { kind: 'link', target: from.link }, usualMode: LINK_MODE };
  if ('directory' in from) return { content: { kind: 'directory' }, usualMode: DIRECTORY_MODE };
  return { content: await fileContent(from), usualMode: FILE_MODE };
}

function addParents(entries: Map<string, TarEntry>, path: string): void {
  for (let at = posix.dirname(path); at !== '.'; at = posix.dirname(at)) {
    const found = entries.get(at);
    if (found !== undefined && found.content.kind !== 'directory')
      throw new Error(`The image has /${path}, but /${at} is no directory.`);
    entries.set(at, found ?? { path: at, mode: DIRECTORY_MODE, content: { kind: 'directory' } });
  }
}

interface HostFile extends ImageFile {
  readonly from: { readonly host: string };
}

/** All that lies in a directory of this machine, by path; of its modes stays who may run a file. */
export async function filesBelow(host: string, path: string): Promise<HostFile[]> {
  const files: HostFile[] = [];
  for (const entry of await readdir(host, { withFileTypes: true })) {
    const from = join(host, entry.name);
    const to = posix.join(path, entry.name);
    // Follows links: an image must not point at the machine it was built on.
    const { mode, isDirectory } = await statOf(from);
    if (isDirectory) files.push(...(await filesBelow(from, to)));
    else
      files.push({
        path: to,
        mode: (mode & 0o100) === 0 ? FILE_MODE : PROGRAM_MODE,
        from: { host: from },
      });
  }
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

async function statOf(path: string): Promise<{ mode: number; isDirectory: boolean }> {
  const stats = await stat(path);
  return { mode: stats.mode, isDirectory: stats.isDirectory() };
}
