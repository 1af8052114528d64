// Builds the reader of the feed as a package for npm: JavaScript, types, and a package.json that
// declares what the code imports, in the versions that it is tested with.
import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import manifest from '../../../../package.json' with { type: 'json' };
import { inVersion } from '../build.ts';

const root = resolve(import.meta.dirname, '../../../..');
const LIBRARY = 'lib/nats/replica/library';

/** Resolves with the directory, which `npm pack` takes. */
export async function buildReader(outDir = join(root, 'dist', 'reader')): Promise<string> {
  await inVersion(outDir, emitReader);
  return outDir;
}

/** Into an empty directory. */
export async function emitReader(outDir: string): Promise<void> {
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), [
    '--project',
    join(import.meta.dirname, 'tsconfig.json'),
    '--outDir',
    join(outDir, 'lib'),
  ]);
  const reader = {
    name: manifest.name,
    version: manifest.version,
    description: "Reads Ballast's metadata feed: what runs where in a Kubernetes cluster",
    license: manifest.license,
    type: 'module',
    // The names by which a clone exports it, too.
    exports: { './replica': { types: `./${LIBRARY}.d.ts`, default: `./${LIBRARY}.js` } },
    files: ['lib'],
    engines: { node: '>=24' },
    dependencies: await dependenciesOf(join(outDir, `${LIBRARY}.js`)),
  };
  await writeFile(join(outDir, 'package.json'), `${JSON.stringify(reader, undefined, 2)}\n`);
  await copyFile(join(import.meta.dirname, 'README.md'), join(outDir, 'README.md'));
  await copyFile(join(root, 'LICENSE'), join(outDir, 'LICENSE'));
}

/** Each package that the code imports, as we depend on it. */
async function dependenciesOf(entry: string): Promise<Readonly<Record<string, string>>> {
  const ours: Readonly<Record<string, string>> = manifest.dependencies;
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    metafile: true,
    write: false,
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const names = imports.filter(({ external }) => external).map(({ path }) => path);
  const packages = new Set(names.filter((name) => !name.startsWith('node:')));
  return Object.fromEntries(
    [...packages].toSorted().map((name) => {
      const version = ours[name];
      if (version === undefined) throw new Error(`package.json does not depend on ${name}.`);
      return [name, version];
    }),
  );
}
