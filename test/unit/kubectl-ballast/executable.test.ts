// kubectl ballast as it ships: one executable, run without a Node that it could find, without a
// home and without a clone, says and does what the commands of `npm run` do.
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { SCRATCH_USAGE } from '../../../functions/storage-audit/options.ts';
import { bundlePlugin } from '../../../knative/tools/build/plugin/bundle.ts';
import { writeExecutable } from '../../../knative/tools/build/plugin/executable.ts';
import { NODE_BINARY } from '../../../knative/tools/images/published-node.ts';
import { subcommands } from '../../../knative/tools/kubectl-ballast/subcommands.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const INFO = { version: '7.8.9', commit: 'abc' };
const BUILD_MS = 60_000;
/** Ends one that takes what it cannot follow, and begins its work. */
const TIME_MS = 30_000;

let dir: string;
let executable: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-plugin-'));
  await mkdir(join(dir, 'empty'));
  executable = join(dir, 'kubectl-ballast');
  const { program } = await bundlePlugin(ROOT, dir, INFO);
  await writeExecutable(NODE_BINARY, program, executable);
}, BUILD_MS);

afterAll(async () => {
  await rm(dir, { recursive: true });
});

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function alone(...args: readonly string[]): Said {
  const cwd = join(dir, 'empty');
  const env = { PATH: cwd };
  const { status, stdout, stderr } = spawnSync(executable, args, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: TIME_MS,
  });
  return { code: status, out: stdout, err: stderr };
}

/** The command of the clone. */
function npmRun(name: string, ...args: readonly string[]): Said {
  const scripts: Readonly<Record<string, string>> = manifest.scripts;
  const [, ...words] = (scripts[name] ?? '').split(' ');
  const options = { cwd: ROOT, encoding: 'utf8', timeout: TIME_MS } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [...words, ...args], options);
  return { code: status, out: stdout, err: stderr };
}

/** Lines about how it is called, and all that stands below them. */
function cut(text: string): readonly [string, string] {
  const at = text.indexOf('usage: ');
  const end = text.indexOf('\n\n', at);
  return [text.slice(at, end), text.slice(0, at) + text.slice(end)];
}

const names = Object.keys(subcommands);

test('it stands alone, and lists each command with one line', () => {
  const { code, out, err } = alone('--help');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const listed = out.match(/^ {2}[a-z][a-z-]*(?= {2,}\S)/gm)?.map((line) => line.trim());
  expect(listed).toEqual([...names, 'completion']);
  expect(alone('-h').out).toBe(out);
  expect(alone('--version')).toEqual({ code: 0, out: 'kubectl-ballast 7.8.9 (abc)\n', err: '' });
});

test.each([
  ['nothing', [], 'which command?'],
  ['another command', ['no-such'], 'there is no command no-such'],
  ['another option', ['--no-such'], 'there is no option --no-such'],
  ['a name of an object of JavaScript', ['constructor'], 'there is no command constructor'],
  ['a name that is none', ['a\u001B[2J'], 'there is no command a\\u001b[2J'],
])('%s ends with 2 and a usage', (_, args, why) => {
  const { code, out, err } = alone(...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(`${why}\n\nusage: kubectl ballast COMMAND`);
});

/** Calls that cannot be followed: each is answered with the whole usage. */
const WRONG: readonly (readonly [string, readonly string[]])[] = [
  ['audit', ['--no-such']],
  ['backup', ['--etcd', 'http://127.0.0.1:1']],
  ['migrate', ['widgets.example.com', '--offline', '--dry-run', '--mode', 'in-tree']],
  ['nats-rights', ['cluster', '--node', 'n1', '--cluster', 'n1']],
  ['rights', ['etcd-peer']],
  ['takeover', ['--kubeconfig', 'x']],
  ['watch', ['--cluster', '--node', 'n1']],
];

test('each command is asked wrongly here', () => {
  expect(WRONG.map(([name]) => name)).toEqual(names);
});

test.each(WRONG)('%s says what its npm script says, but for the usage', (name, args) => {
  const [ours, npm] = [alone(name, ...args), npmRun(name, ...args)];
  expect([ours.code, ours.out, npm.code, npm.out]).toEqual([2, '', 2, '']);
  const [usage, text] = cut(ours.err);
  for (const line of usage.split('\n')) {
    expect(line.slice(7)).toMatch(new RegExp(`^kubectl ballast ${name} `));
  }
  // A server for `audit --against` is started only where its parts are.
  expect(text).toBe(cut(npm.err)[1].replace(SCRATCH_USAGE, ''));
  const help = alone(name, '--help');
  expect(help.code).toBe(0);
  expect(ours.err.endsWith(help.out)).toBe(true);
});

test.each([
  ['audit', 2, ['/no/such/snapshot']],
  ['backup', 0, ['--remove', '/no/such/file', '--sha256', 'a'.repeat(64), '--size', '1']],
  ['rights', 0, ['metadata', '--secret', 'nats']],
  ['watch', 1, ['--cluster', '--verify', '--plane', '/no/such/plane']],
])('%s ends with %i and does what its npm script does, for %j', (name, code, args) => {
  const ours = alone(name, ...args);
  expect(ours.code).toBe(code);
  expect(ours).toEqual(npmRun(name, ...args));
});

test.each([
  ['is no Node', () => join(dir, 'kubectl-ballast.cjs')],
  ['has a program in it already', () => executable],
])('nothing is put into a program that %s', async (_, programOf) => {
  const out = join(dir, 'none');
  const writing = writeExecutable(programOf(), join(dir, 'kubectl-ballast.cjs'), out);
  await expect(writing).rejects.toThrow('no place for a program');
});
