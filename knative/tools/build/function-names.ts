// Which functions there are, and which programs that are nothing else: one folder each.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const FUNCTIONS = resolve(import.meta.dirname, '../../../functions');

export const functionNames = (): Promise<string[]> => foldersWith('index.ts', true);

/** Run in the pods of Jobs, and by hand; nobody sends them an event. */
export const programNames = (): Promise<string[]> => foldersWith('index.ts', false);

async function foldersWith(file: string, isThere: boolean): Promise<string[]> {
  const entries = await readdir(FUNCTIONS, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return names.filter((name) => existsSync(join(FUNCTIONS, name, file)) === isThere);
}
