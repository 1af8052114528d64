// Every command of package.json explains itself with --help.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../../..');
const ours = Object.entries(manifest.scripts).filter(([, line]) => line.startsWith('node '));

/** Ends a command that does not know the option and begins its work. Busy machines are slow. */
const TIME_MS = 60_000;

test.each(ours)(
  'npm run %s explains itself when asked for help',
  (_name, line) => {
    const [, ...words] = line.split(' ');
    const options = { cwd: root, encoding: 'utf8', timeout: TIME_MS } as const;
    const { status, stdout } = spawnSync(process.execPath, [...words, '--help'], options);
    expect([status, stdout]).toEqual([0, expect.stringContaining('npm ')]);
  },
  TIME_MS + 10_000,
);
