// Every command of package.json explains itself with --help, at once. Each is started once for it,
// so all that is asked of its help is asked here.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
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

/** A command that loads its program before it has read its options takes most of a second. */
const FILES_MAX = 40;
/** They read feeds and etcd: most of their program is what their options are about. */
const LARGER: Readonly<Record<string, number>> = { watch: 95, audit: 95 };
/** The manifests that commands print are written with it. */
const PACKAGES = ['yaml'];
const TELL_LOADED = join(import.meta.dirname, 'tell-loaded.ts');

/** Ends a command that does not know the option and begins its work. Busy machines are slow. */
const TIME_MS = 60_000;

interface Loaded {
  readonly files: number;
  readonly packages: readonly string[];
}

test.each(ours)(
  'npm run %s explains itself when asked for help',
  (name, line) => {
    const [, ...words] = line.split(' ');
    const options = { cwd: root, encoding: 'utf8', timeout: TIME_MS } as const;
    const args = ['--import', TELL_LOADED, ...words, '--help'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
    expect([status, stdout]).toEqual([0, expect.stringContaining('npm ')]);
    for (const word of TOLD[name] ?? []) expect(stdout).toContain(word);
    const loaded = JSON.parse(stderr.split('\n').at(-1) ?? '') as Loaded;
    expect(loaded.packages.filter((one) => !PACKAGES.includes(one))).toEqual([]);
    expect(loaded.files).toBeLessThanOrEqual(LARGER[name] ?? FILES_MAX);
  },
  TIME_MS + 10_000,
);
