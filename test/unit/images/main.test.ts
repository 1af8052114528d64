// `npm run images`: arguments that cannot be meant.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { functionNames } from '../../../knative/tools/build/function-names.ts';
import { imagesOptions, usage } from '../../../knative/tools/images/options.ts';
import { UsageError } from '../../../shared/arguments.ts';

const root = resolve(import.meta.dirname, '../../..');
it.each([
  [['no-such'], 'there is no function no-such'],
  [['--outt', 'x'], 'there is no option --outt'],
  [['--out', ''], '--out wants a directory'],
  [['--tag', 'a b'], '--tag cannot be a b'],
  [['--repository', 'Example.com/x'], '--repository wants host/path in lower case'],
])('refuses %s', (args, reason) => {
  expect(() => imagesOptions(args, ['a', 'b'])).toThrow(UsageError);
  expect(() => imagesOptions(args, ['a', 'b'])).toThrow(reason);
});

it('ends with 2 and the usage when it refuses', async () => {
  const args = ['knative/tools/images/main.ts', 'no-such'];
  const ended = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  const stderr = `there is no function no-such\n\n${usage(await functionNames())}`;
  expect(ended).toMatchObject({ status: 2, stdout: '', stderr });
});

it('takes a function that is named twice once, and all when none is named', () => {
  expect(imagesOptions(['b', 'b'], ['a', 'b'])?.functions).toEqual(['b']);
  expect(imagesOptions([], ['a', 'b'])?.functions).toEqual(['a', 'b']);
});
