// The command that builds parts ahead: usage errors, progress and the final table.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fakeMachine } from './fake-go.ts';

const MAIN = fileURLToPath(new URL('../../../knative/try/local/parts/main.ts', import.meta.url));

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [MAIN, ...args], { env, encoding: 'utf8' });

test.each([[['etdc']], [['--fast']]])('%j is a usage error: exit 2 and a usage line', (args) => {
  const { status, stderr, stdout } = run(args);
  expect(status).toBe(2);
  expect(stderr).toContain(args[0]);
  expect(stderr).toContain('usage: npm run parts');
  expect(stdout).toBe('');
});

const HASH = 'a'.repeat(64);

test.each([
  [['--import', 'x'], '--import wants --sha256'],
  [['--import', 'x', '--sha256', 'A'.repeat(64)], '--import wants --sha256'],
  [['--import', 'x', '--sha256', HASH, 'etcd'], '--import takes all that is in the archive'],
  [['--import', 'x', '--sha256', HASH, '--export', 'y'], 'are two commands'],
  [['--import', '', '--sha256', HASH], '--import wants a file'],
  [['--export', ''], '--export wants a file'],
  [['--sha256', HASH], '--sha256 is for --import'],
])('%j cannot be meant: exit 2 and why', (args, why) => {
  const { status, stderr, stdout } = run(args);
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain(why);
  expect(stderr).toContain('usage: npm run parts');
});

test('an archive goes from one machine to another by two commands', async () => {
  await using builder = await fakeMachine({});
  await using other = await fakeMachine(undefined);
  const path = join(builder.dir, 'parts.tar.zst');
  const env = { PATH: join(builder.dir, 'bin'), HOME: builder.dir };
  const { stdout } = run(['--export', path, 'etcd'], env);
  expect(stdout).toMatch(/^[0-9a-f]{64} {2}\/\S+\/parts.tar.zst\n$/);
  const [sha256 = ''] = stdout.split(' ');
  const there = { PATH: other.dir, HOME: other.dir };
  const taken = run(['--import', path, '--sha256', sha256], there);
  expect([taken.status, taken.stdout]).toEqual([0, expect.stringMatching(/^etcd +v3\.6\.16\n$/)]);
  expect(run(['etcd'], there).stdout).toContain('/etcd (cache)');
  const refused = run(['--import', path, '--sha256', HASH], there);
  expect([refused.status, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).not.toContain('    at ');
});

test('a part is built ahead and told with version, path and source', async () => {
  await using machine = await fakeMachine({});
  const env = {
    PATH: join(machine.dir, 'bin'),
    XDG_CACHE_HOME: join(machine.dir, 'cache'),
  };
  const built = run(['etcd'], env);
  expect(built.stdout).toMatch(/^etcd +v3\.6\.16 +\/\S+\/etcd \(built\)\n$/);
  const [first = ''] = built.stderr.split('\n');
  expect(first).toContain('1 binary is not there yet: etcd. They are built from source');
  expect(built.stderr).toContain('etcd: linking (0 s, binary 1 of 1)');
  expect(run(['etcd'], env).stdout).toContain('/etcd (cache)');
});

test('a test that needs a part is told what to build, and waits for no build', async () => {
  await using machine = await fakeMachine({});
  const env = { PATH: join(machine.dir, 'bin'), HOME: machine.dir, VITEST: 'true' };
  const { status, stderr } = run(['etcd'], env);
  expect([status, stderr]).toEqual([
    1,
    'A test needs parts that are not built yet: run `npm run parts -- etcd` first.\n',
  ]);
});

test('what cannot be had is said without a stack trace, and exits 1', async () => {
  await using machine = await fakeMachine(undefined);
  const { status, stderr } = run(['etcd'], { PATH: machine.dir, HOME: machine.dir });
  expect(status).toBe(1);
  expect(stderr).toContain('There is no `go` on PATH.');
  expect(stderr).not.toContain('    at ');
});
