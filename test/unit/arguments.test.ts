// How every command refuses what it cannot follow: by name, in words that fit.
import { expect, test } from 'vitest';
import { readArguments, UsageError } from '../../shared/arguments.ts';

const OPTIONS = {
  nodes: { type: 'string' },
  keep: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

test('options, their values and other words are read', () => {
  const { values, positionals } = readArguments(['a', '--nodes', '3', '-h', '--', '-b'], OPTIONS);
  expect(values).toEqual({ nodes: '3', help: true });
  expect(positionals).toEqual(['a', '-b']);
});

test.each([
  [['--foo'], 'there is no option --foo'],
  [['-x'], 'there is no option -x'],
  [['--toString'], 'there is no option --toString'],
  [['--no-keep'], 'there is no option --no-keep'],
  [['--keep=1'], '--keep takes no value'],
  [['--nodes'], '--nodes wants a value'],
  [['--nodes', '--keep'], '--nodes wants a value; if --keep is the value, write --nodes=--keep'],
])("%j is refused without the hints of Node's parser", (args, why) => {
  expect(() => readArguments(args, OPTIONS)).toThrow(new UsageError(why));
});

test('a value may begin with a dash where it is joined to its option', () => {
  expect(readArguments(['--nodes=-1'], OPTIONS).values).toEqual({ nodes: '-1' });
  expect(readArguments(['--nodes', '-'], OPTIONS).values).toEqual({ nodes: '-' });
});
