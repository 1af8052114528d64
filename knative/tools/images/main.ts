// `npm run images [-- name ...]`: the images of the named functions, or of all of them. Names and
// digests go to stdout, what is under way to stderr.
import { relative } from 'node:path';
import { functionNames } from '../build/function-names.ts';
import { UsageError } from '../../../shared/arguments.ts';
import { imagesOptions, usage } from './options.ts';

// An unfinished build is ended and removed on the way out (see knative/tools/build).
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const MEGABYTE = 1_000_000;

async function main(args: readonly string[]): Promise<number> {
  const known = await functionNames();
  try {
    const options = imagesOptions(args, known);
    if (options === undefined) {
      process.stdout.write(usage(known));
      return 0;
    }
    const { buildImage } = await import('./build-image.ts');
    for (const name of options.functions) {
      process.stderr.write(`${name}: bundling, and writing its image...\n`);
      const { directory, sizeBytes, digest, ...image } = await buildImage({ ...options, name });
      const size = `${(sizeBytes / MEGABYTE).toFixed(1)} MB`;
      process.stderr.write(`${name}: ${relative(process.cwd(), directory)}, ${size}\n`);
      process.stdout.write(`${image.name}@${digest}\n`);
    }
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage(known)}`);
    return 2;
  }
}

process.exitCode = await main(process.argv.slice(2));
