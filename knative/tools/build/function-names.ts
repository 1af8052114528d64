// Which functions there are: one folder each.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const FUNCTIONS = resolve(import.meta.dirname, '../../../functions');

export async function functionNames(): Promise<string[]> {
  const entries = await readdir(FUNCTIONS, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return names.filter((name) => existsSync(join(FUNCTIONS, name, 'index.ts')));
}

/** Those that are Knative Services: func can deploy them too. */
export async function knativeNames(): Promise<string[]> {
  const names = await functionNames();
  return names.filter((name) => existsSync(join(FUNCTIONS, name, 'func.yaml')));
}
