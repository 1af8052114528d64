// An image with nothing in it but node and what node loads: a pod's arguments are its program.
import { join } from 'node:path';
import { writeImage } from '../../../knative/images/image.ts';
import { writeArchive } from '../../../knative/images/layout.ts';
import { librariesOf } from '../../../knative/images/libraries.ts';

export const NODE_IMAGE = 'dev.local/ballast/test-node:1';
export const NODE_PATH = '/usr/bin/node';

/** Resolves with the path of an archive in `dir`. */
export async function nodeArchive(dir: string): Promise<string> {
  const host = process.execPath;
  const spec = {
    name: NODE_IMAGE,
    files: [{ path: NODE_PATH, mode: 0o755, from: { host } }, ...(await librariesOf(host))],
    entrypoint: [NODE_PATH],
  };
  const { directory } = await writeImage(spec, join(dir, 'node-image'));
  const archive = join(dir, 'node-image.tar');
  await writeArchive(directory, archive);
  return archive;
}
