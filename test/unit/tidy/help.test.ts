// Every command of package.json explains itself with --help. Each is started once for it, so all
// that its help has to tell is asked here.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { partNames } from '../../../knative/try/local/parts/catalog.ts';

const root = resolve(import.meta.dirname, '../../..');
const ours = Object.entries(manifest.scripts).filter(([, line]) => line.startsWith('node '));

const SESSION = '--nodes --pods --churn --keep --api-port --nats-port --plain --help'.split(' ');
const PLACES = ['BALLAST_PARTS', 'KUBEBUILDER_ASSETS', 'PATH', 'cache', 'Go 1.26'];
const TOLD: Readonly<Record<string, readonly string[]>> = {
  start: SESSION,
  dev: SESSION,
  cluster: ['--without-knative'],
  bench: ['--pairs N'],
  parts: [...partNames, ...PLACES],
  images: ['usage: npm run images', 'Functions: ', 'metadata'],
};

/** Ends a command that does not know the option and begins its work. Busy machines are slow. */
const TIME_MS = 60_000;

test.each(ours)(
  'npm run %s explains itself when asked for help',
  (name, line) => {
    const [, ...words] = line.split(' ');
    const options = { cwd: root, encoding: 'utf8', timeout: TIME_MS } as const;
    const { status, stdout } = spawnSync(process.execPath, [...words, '--help'], options);
    expect([status, stdout]).toEqual([0, expect.stringContaining('npm ')]);
    for (const word of TOLD[name] ?? []) expect(stdout).toContain(word);
  },
  TIME_MS + 10_000,
);
