// The image of the test's function: Node, what Node needs, and one file.
import { join } from 'node:path';
import { writeImage } from '../../../../knative/images/image.ts';
import { writeArchive } from '../../../../knative/images/layout.ts';
import { librariesOf } from '../../../../knative/images/libraries.ts';

export const ECHO_IMAGE = 'dev.local/ballast-test/echo:v1.0.0';

const PROGRAM = '/app/echo-server.ts';

/** The archive that a node imports, written into `dir`. */
export async function echoArchive(dir: string): Promise<string> {
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
  const { directory } = await writeImage(spec, join(dir, 'echo'));
  const archive = join(dir, 'echo.tar');
  await writeArchive(directory, archive);
  return archive;
}
