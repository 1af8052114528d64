// Whoever tries a command first asks it what it does.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../../..');
const ours = Object.entries(manifest.scripts).filter(([, line]) => line.startsWith('node '));

/** One that does not know the word might begin its work; below the time that a test has. */
const TIME_MS = 9_000;

test.each(ours)('npm run %s explains itself when asked for help', (_name, line) => {
  const [, ...words] = line.split(' ');
  const options = { cwd: root, encoding: 'utf8', timeout: TIME_MS } as const;
  const { status, stdout } = spawnSync(process.execPath, [...words, '--help'], options);
  expect([status, stdout]).toEqual([0, expect.stringContaining('npm ')]);
});
