// Which functions there are: one folder each.
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';

const FUNCTIONS = resolve(import.meta.dirname, '../../../functions');

export async function functionNames(): Promise<string[]> {
  const entries = await readdir(FUNCTIONS, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
