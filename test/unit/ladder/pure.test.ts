// Only a test that can leave nothing behind shares its process with others.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pureTests } from '../../pure.ts';

/** A repository whose only test is this, beside these modules. */
async function pureOf(text: string, modules: Readonly<Record<string, string>> = {}) {
  const root = await mkdtemp(join(tmpdir(), 'ballast-pure-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const [path, content] of Object.entries({ 'test/unit/a.test.ts': text, ...modules })) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return pureTests(root);
}

const reaching = (line: string): Readonly<Record<string, string>> => ({
  'shared/b.ts': "import { c } from './c.ts';\nimport { a } from '../test/unit/a.test.ts';\n",
  'shared/c.ts': `${line}\n`,
});
const B = "import { b } from '../../shared/b.ts';\n";

test.each([
  ['nothing', ''],
  ['files and hashes', "import {\n  hash,\n} from 'node:crypto';\nimport 'node:fs';"],
  ['types of sockets', "import type { Socket } from 'node:net';"],
])('a test that reaches %s shares a process', async (_, line) => {
  expect(await pureOf(B, reaching(line))).toEqual(['test/unit/a.test.ts']);
});

test.each([
  ['sockets', "import { type Socket, connect } from 'node:net';"],
  ['programs, later on', "const load = () => import('node:child_process');"],
  ['a package that nobody has looked at', "export { any } from 'any';"],
  ['a module that is not there', "import './gone.ts';"],
])('a test that reaches %s has its own', async (_, line) => {
  expect(await pureOf(B, reaching(line))).toEqual([]);
});

test.each(['vi.useFakeTimers();', 'process.exitCode = 1;', 'globalThis.fetch = never;'])(
  'a test that says %s has its own',
  async (text) => {
    expect(await pureOf(text)).toEqual([]);
  },
);
