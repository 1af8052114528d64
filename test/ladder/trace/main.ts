// `node test/ladder/trace/main.ts FILE...`: runs test files in copies of the repository, and names
// what they read though `npm test -- --changed` does not know that they reach it.

import { resolve } from 'node:path';
import { unknownReads } from './unknown-reads.ts';

const root = resolve(import.meta.dirname, '../../..');
for (const test of process.argv.slice(2)) {
  const { read, unknown } = await unknownReads(test, root);
  process.stdout.write(`${test}: read ${read} files, ${unknown.length} of them unknown\n`);
  for (const path of unknown) process.stdout.write(`  ${path}\n`);
  if (unknown.length > 0) process.exitCode = 1;
}
