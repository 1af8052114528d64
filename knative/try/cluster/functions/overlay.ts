// The kustomization of a user whose NATS wants a password, as docs/install.md says it: beside the
// installation, for as long as it is needed.
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stringify } from 'yaml';

export async function withOverlay(
  installation: string,
  use: (directory: string) => Promise<void>,
): Promise<void> {
  // kustomize takes relative paths only, and follows links before it does.
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'ballast-overlay-')));
  try {
    const base = relative(directory, await realpath(installation));
    const overlay = { resources: [base], components: [join(base, 'nats-secret')] };
    await writeFile(join(directory, 'kustomization.yaml'), stringify(overlay));
    await use(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}
