// All that the result of a rung, or of each of its test files, can hang on, as one hash for each:
// what it reaches of the repository, what is installed, the parts, and this machine's Node.

import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { env, getuid, version } from 'node:process';
import { resolveParts } from '../../knative/try/local/parts/resolve.ts';
import { Reach } from './reach/reach.ts';
import { readRepository, type Repository } from './reach/repository.ts';
import type { Rung } from './rungs.ts';
import { type TestFile, testFiles } from './test-files.ts';

/** Hashes by test file, or by the name of a rung that has none; all others are always climbed. */
export type Inputs = ReadonlyMap<string, string>;

/** Whatever runs is set up by them. */
const OF_ALL = ['package.json', 'package-lock.json', 'tsconfig.json'];
/** npm says here what it has installed, whatever the lock file says by now. */
const INSTALLED = 'node_modules/.package-lock.json';

export class InputsReader {
  readonly #root: string;
  readonly #filesOf: typeof testFiles;
  #repository: Repository = new Map();
  #reach = new Reach(this.#repository);

  constructor(root: string, filesOf = testFiles) {
    this.#root = root;
    this.#filesOf = filesOf;
  }

  /** None where nobody can tell. */
  async of(rung: Rung): Promise<Inputs> {
    const { name, commands, env: settings, projects, isOfAll = false, parts = [] } = rung;
    if (projects === undefined && !isOfAll) return new Map();
    try {
      await this.#read();
      const installed = await readFile(join(this.#root, INSTALLED), 'utf8').catch(() => '');
      const around = JSON.stringify([
        [name, commands, settings, version, process.arch, release(), getuid?.()],
        [ownSettings(), installed, await binariesOf(parts)],
      ]);
      const all = [...this.#repository.keys()];
      if (isOfAll) return new Map([[name, this.#hash(around, all)]]);
      const files = this.#filesOf(projects ?? []);
      return new Map(
        files.map((file) => {
          const reached = [...reachOf(file, this.#reach)];
          return [file.path, this.#hash(`${around}${file.settings}`, reached)];
        }),
      );
    } catch {
      return new Map();
    }
  }

  async #read(): Promise<void> {
    const repository = await readRepository(this.#root, this.#repository);
    if (repository === this.#repository) return;
    this.#repository = repository;
    this.#reach = new Reach(repository);
  }

  #hash(around: string, paths: readonly string[]): string {
    const hash = createHash('sha256').update(around);
    for (const path of paths.toSorted()) {
      hash.update(JSON.stringify([path, this.#repository.get(path)?.hash]));
    }
    return hash.digest('base64url');
  }
}

export const reachOf = ({ path, setup }: TestFile, reach: Reach): ReadonlySet<string> =>
  new Set([...reach.of([path, ...setup]), ...OF_ALL]);

const ownSettings = (): readonly unknown[] =>
  Object.keys(env)
    .filter((key) => /^(?:BALLAST|KUBEBUILDER)_/.test(key))
    .toSorted()
    .map((key) => [key, env[key]]);

/** They are found by then; a named directory may hold other ones of the same name. */
async function binariesOf(names: NonNullable<Rung['parts']>): Promise<readonly unknown[]> {
  const parts = [...(await resolveParts(names)).values()];
  return Promise.all(
    parts.map(async ({ path }) => {
      const { size, mtimeMs } = await stat(path);
      return [path, size, mtimeMs];
    }),
  );
}
