// A single executable of Node: a copy of Node with one program in it, which needs neither Node nor
// any file beside it.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { EXECUTABLE_MODE } from './bundle.ts';
import { withNote } from './elf.ts';

/** Where Node looks for its program, and the mark by which it is told to look. */
const NOTE_NAME = 'NODE_SEA_BLOB';
const MARK = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

export async function writeExecutable(
  node: string,
  program: string,
  outfile: string,
): Promise<void> {
  const copy = await readFile(node);
  setMark(copy);
  const blob = await blobOf(node, program);
  const out = createWriteStream(outfile, { mode: EXECUTABLE_MODE });
  for (const piece of withNote(copy, NOTE_NAME, blob)) {
    if (!out.write(piece)) await once(out, 'drain');
  }
  out.end();
  await finished(out);
}

/** V8 orders what it compiled by it; with chance in its place, no two builds are the same. */
const SEED = '--random-seed=1';

/** With its code compiled, so that a start need not: for this Node on this architecture alone. */
async function blobOf(node: string, program: string): Promise<Buffer> {
  // It holds the name of the program as it is given: with a directory it would be another anywhere
  // else.
  const [cwd, main] = [dirname(program), basename(program)];
  const configPath = `${program}.json`;
  const output = `${program}.blob`;
  const config = { main, output, disableExperimentalSEAWarning: true, useCodeCache: true };
  await writeFile(configPath, JSON.stringify(config));
  try {
    await promisify(execFile)(node, [SEED, '--experimental-sea-config', configPath], { cwd });
    return await readFile(output);
  } finally {
    await Promise.all([configPath, output].map((path) => rm(path, { force: true })));
  }
}

function setMark(node: Buffer): void {
  const at = node.indexOf(`${MARK}:0`);
  if (at === -1 || node.includes(`${MARK}:0`, at + 1)) {
    throw new Error('This Node has no place for a program, or has one in it already.');
  }
  node.write('1', at + MARK.length + 1);
}
