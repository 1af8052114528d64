// Command-line options of `npm run images`; every wrong one is named.
import { resolve } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { readArguments, UsageError } from '../../../shared/arguments.ts';

export interface ImagesOptions {
  readonly functions: readonly string[];
  readonly outDir: string;
  /** Without a slash at the end. */
  readonly repository: string;
  readonly tag: string;
  readonly writesArchives: boolean;
}

/** Knative asks no registry about `dev.local`, so an imported image is enough. */
const REPOSITORY = 'dev.local/ballast';
const OUT = 'dist/images';

const OPTIONS = {
  out: { type: 'string' },
  repository: { type: 'string' },
  tag: { type: 'string' },
  archive: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const usage = (functions: readonly string[]): string => `\
usage: npm run images -- [OPTION...] [FUNCTION...]

Builds the images of functions, without a container engine: for each an OCI layout that any
registry tool can push, and its bill of materials (CycloneDX) beside it. Without a name: of all.

Functions: ${functions.join(', ')}

  --out DIR          where they go (${OUT})
  --repository NAME  what their names begin with (${REPOSITORY})
  --tag TAG          what their names end with (${manifest.version})
  --archive          also write each as one .tar, for ctr images import or podman load
  -h, --help         this text

The last line of each image is its name and digest: docs/images.md shows how to push and check it.
`;

/** Undefined when help was asked for. */
export function imagesOptions(
  args: readonly string[],
  functions: readonly string[],
): ImagesOptions | undefined {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return undefined;
  const unknown = positionals.find((name) => !functions.includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no function ${unknown}`);
  const { out = OUT, repository = REPOSITORY, tag = manifest.version } = values;
  if (out === '') throw new UsageError('--out wants a directory');
  refuseNoRepository(repository);
  if (!/^\w[\w.-]{0,127}$/.test(tag)) throw new UsageError(`--tag cannot be ${tag}`);
  return {
    functions: positionals.length === 0 ? functions : [...new Set(positionals)],
    outDir: resolve(out),
    repository,
    tag,
    writesArchives: values.archive === true,
  };
}

export function refuseNoRepository(text: string): void {
  if (/^[a-z0-9]+([a-z0-9._:/-]*[a-z0-9])?$/.test(text)) return;
  throw new UsageError(`--repository wants host/path in lower case, not ${text}`);
}
