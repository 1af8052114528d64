// `npm run images` as it is called: help, and arguments that cannot be meant.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { imagesOptions } from '../../../knative/tools/images/options.ts';

const root = resolve(import.meta.dirname, '../../..');
const run = (...args: string[]) =>
  spawnSync(process.execPath, ['knative/tools/images/main.ts', ...args], {
    cwd: root,
    encoding: 'utf8',
  });

it('explains itself', () => {
  const { status, stdout } = run('--help');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^usage: npm run images.*Functions: .*metadata/s);
});

it.each([
  [['no-such'], 'there is no function no-such'],
  [['--outt', 'x'], 'there is no option --outt'],
  [['--out', ''], '--out wants a directory'],
  [['--tag', 'a b'], '--tag cannot be a b'],
  [['--repository', 'Example.com/x'], '--repository wants host/path in lower case'],
])('refuses %s with 2 and the usage', (args, reason) => {
  const { status, stdout, stderr } = run(...args);
  expect(status).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toContain(reason);
  expect(stderr).toContain('usage: npm run images');
});

it('takes a function that is named twice once, and all when none is named', () => {
  expect(imagesOptions(['b', 'b'], ['a', 'b'])?.functions).toEqual(['b']);
  expect(imagesOptions([], ['a', 'b'])?.functions).toEqual(['a', 'b']);
});
