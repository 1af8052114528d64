// The rights in docs/feed.md for readers and for the function are those that are printed, and so
// those that are tried.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { answer } from '../../../knative/tools/nats-rights/command.ts';
import { UsageError } from '../../../shared/arguments.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

test('the page has the accounts as npm run nats-rights prints them', async () => {
  const page = await readFile(join(ROOT, 'docs/feed.md'), 'utf8');
  const [, args = ''] = /`npm run -s nats-rights -- ([^`]*)`/.exec(page) ?? [];
  const entry = join(ROOT, 'knative/tools/nats-rights/main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [entry, ...args.split(' ')]);
  expect(page).toContain(`\n\`\`\`\n${stdout}\`\`\`\n`);
});

test('no user gets a password that everybody can read in the configuration', () => {
  const config = answer(['f', '--node', '10-0-0-1', '--cluster', '_x', '--writer', 'on']);
  const passwords = [...config.matchAll(/password: (\S+)/g)].map(([, one]) => one);
  expect(passwords).toEqual(['$ON_PASSWORD', '$USER__X_PASSWORD', '$USER_10_0_0_1_PASSWORD']);
  // NATS takes `on` for true.
  expect(config).toContain('user: "on"');
});

test.each([
  [[], 'which feed is it about?'],
  [['a.b'], 'a.b is no name of a feed'],
  [['f', 'g'], 'one feed at a time, not also g'],
  [['f', '--node', 'n1', '--cluster', 'n1'], 'two users are called n1'],
  [['f', '--node', 'a-b', '--node', 'a.b'], 'a-b and a.b would have the same password'],
  [['f', '--namespaces', 'team'], '--namespaces wants USER=A,B'],
  [['f', '--node', 'a*'], '"a*" is no name of a user'],
])('%j is refused', (args, why) => {
  const ask = (): string => answer(args);
  expect(ask).toThrow(UsageError);
  expect(ask).toThrow(why);
});
