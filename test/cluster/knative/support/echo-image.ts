// The image of the test's function: Node, what Node needs, and one file.
import { join } from 'node:path';
import { cachedArchive } from '../../../../knative/try/cluster/knative/cached-archive.ts';
import { librariesOf } from '../../../../knative/tools/images/libraries.ts';
import { partsSettings } from '../../../../knative/try/local/parts/settings.ts';

export const ECHO_IMAGE = 'dev.local/ballast-test/echo:v1.0.0';

const PROGRAM = '/app/echo-server.ts';

/** The archive that a node imports. */
export async function echoArchive(): Promise<string> {
  const node = process.execPath;
  const spec = {
    name: ECHO_IMAGE,
    base: [
      { path: '/usr/local/bin/node', mode: 0o755, from: { host: node } },
      ...(await librariesOf(node)),
    ],
    files: [{ path: PROGRAM, from: { host: join(import.meta.dirname, 'echo-server.ts') } }],
    entrypoint: ['/usr/local/bin/node', PROGRAM],
  };
  return cachedArchive(spec, partsSettings());
}
