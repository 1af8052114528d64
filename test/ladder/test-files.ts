// Which test files a rung has, as vitest finds them, and what each of them begins with.

import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import config from '../../vitest.config.ts';

export interface TestFile {
  /** From the top of the repository. */
  readonly path: string;
  /** Files that run before it, or beside it. */
  readonly setup: readonly string[];
  /** Differs for other settings of its project. */
  readonly settings: string;
}

const ROOT = resolve(import.meta.dirname, '../..');

interface Project {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  readonly setupFiles: readonly string[];
  readonly globalSetup?: string;
}

/** Those of all projects, unless some are named. */
export function testFiles(projects?: readonly string[]): readonly TestFile[] {
  const { projects: all = [], ...shared } = config.test ?? {};
  const chosen = all.map((one) => (one as { readonly test: Project }).test);
  return chosen
    .filter(({ name }) => projects?.includes(name) ?? true)
    .flatMap((one) => {
      const { include, exclude = [], setupFiles, globalSetup, ...settings } = one;
      const setup = [...setupFiles, ...(globalSetup === undefined ? [] : [globalSetup])];
      const hash = createHash('sha256').update(
        JSON.stringify([{ ...config, test: shared }, settings]),
      );
      const told = { setup, settings: hash.digest('hex') };
      const paths = globSync(include, { cwd: ROOT, exclude });
      return paths.map((path) => ({ path, ...told }));
    });
}
