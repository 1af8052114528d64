// An image with nothing in it but node and what node loads: a pod's arguments are its program.
import { cachedArchive } from '../../../knative/try/cluster/knative/cached-archive.ts';
import { librariesOf } from '../../../knative/tools/images/libraries.ts';
import { partsSettings } from '../../../knative/try/local/parts/settings.ts';

export const NODE_IMAGE = 'dev.local/ballast/test-node:1';
export const NODE_PATH = '/usr/bin/node';

/** Resolves with the path of an archive. */
export async function nodeArchive(): Promise<string> {
  const host = process.execPath;
  const spec = {
    name: NODE_IMAGE,
    files: [{ path: NODE_PATH, mode: 0o755, from: { host } }, ...(await librariesOf(host))],
    entrypoint: [NODE_PATH],
  };
  return cachedArchive(spec, partsSettings());
}
