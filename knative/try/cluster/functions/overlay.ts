// The kustomization of a user whose NATS wants a password, as docs/install.md says it: beside the
// installation, for as long as it is needed. On two cores the functions ask for less of them.
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stringify } from 'yaml';

/** Old pods drain for half a minute; a rollout of all functions would wait for their room. */
const SMALL_REQUESTS = {
  target: { group: 'serving.knative.dev', kind: 'Service' },
  patch: stringify([
    {
      op: 'replace',
      path: '/spec/template/spec/containers/0/resources/requests/cpu',
      value: '10m',
    },
  ]),
};

const SETTINGS = { name: 'ballast-settings', namespace: 'ballast-system' };

export interface OverlayOptions {
  /** Components of the installation, beside that for the password. */
  readonly components?: readonly string[];
  /** Lines of `settings.env` that differ. */
  readonly settings?: readonly string[];
  readonly patches?: readonly OverlayPatch[];
}

/** As a kustomization has them. */
export interface OverlayPatch {
  readonly target: Readonly<Record<string, string>>;
  readonly patch: string;
}

export async function withOverlay(
  installation: string,
  use: (directory: string) => Promise<void>,
  { components = [], settings = [], patches = [] }: OverlayOptions = {},
): Promise<void> {
  // kustomize takes relative paths only, and follows links before it does.
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'ballast-overlay-')));
  try {
    const base = relative(directory, await realpath(installation));
    const overlay = {
      resources: [base],
      components: ['nats-secret', ...components].map((component) => join(base, component)),
      configMapGenerator: [{ ...SETTINGS, behavior: 'merge', literals: settings }],
      patches: [SMALL_REQUESTS, ...patches],
    };
    await writeFile(join(directory, 'kustomization.yaml'), stringify(overlay));
    await use(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}
