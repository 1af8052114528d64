// Completion of kubectl ballast: what may stand next, and the scripts by which bash and kubectl
// ask for it. The program is run from its sources, by the name that it has on a PATH.
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { complete } from '../../../knative/tools/kubectl-ballast/complete.ts';
import { answer, SHELLS } from '../../../knative/tools/kubectl-ballast/completion.ts';
import { subcommands } from '../../../knative/tools/kubectl-ballast/subcommands.ts';
import { UsageError } from '../../../shared/arguments.ts';

const PROGRAM = resolve(import.meta.dirname, '../../../knative/tools/kubectl-ballast/program.ts');
const TELL_LOADED = resolve(import.meta.dirname, '../tidy/tell-loaded.ts');
const SOURCE = `
import { runPlugin } from ${JSON.stringify(PROGRAM)};
await runPlugin({ version: '7.8.9', commit: '' });
`;

/** Its own three files and what they say about options. */
const FILES_MAX = 4;

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-completion-'));
  await mkdir(join(dir, 'bin'));
  await writeFile(join(dir, 'main.mjs'), SOURCE);
  const node = JSON.stringify(process.execPath);
  await program('kubectl-ballast', `exec ${node} ${join(dir, 'main.mjs')} "$@"`);
});

afterAll(async () => {
  await rm(dir, { recursive: true });
});

async function program(name: string, text: string): Promise<void> {
  const path = join(dir, 'bin', name);
  await writeFile(path, text.startsWith('#!') ? text : `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
}

function run(command: string, args: readonly string[]) {
  const env = { PATH: [join(dir, 'bin'), process.env['PATH']].join(delimiter) };
  return spawnSync(command, args, { env, encoding: 'utf8' });
}

const completed = async (...words: readonly string[]) =>
  (await complete(words, 'kubectl ballast')).trimEnd().split('\n');

test('commands come first, then the options of the one that was chosen', async () => {
  const all = [...Object.keys(subcommands), 'completion', '--help', '--version', ':4'];
  expect(await completed('')).toEqual(all);
  expect(await completed('m')).toEqual(['migrate', ':4']);
  expect(await completed('migrate', '--')).toEqual([
    '--rights',
    '--mode',
    '--dry-run',
    '--verify-etcd',
    '--never-trim',
    '--namespace',
    '--offline',
    '--help',
    ':4',
  ]);
  expect(await completed('watch', '--node', 'n1', '--on')).toEqual(['--once', ':4']);
  expect(await completed('backup', '--sha')).toEqual(['--sha256', ':4']);
});

test('words that are known come before files, and nothing after what is none', async () => {
  expect(await completed('rights', 'etcd-')).toEqual([
    'etcd-cluster',
    'etcd-peer',
    'etcd-backup',
    'etcd-restore',
    ':4',
  ]);
  expect(await completed('rights', 'metadata', '')).toEqual([':0']);
  expect(await completed('audit', '')).toEqual([':0']);
  expect(await completed('audit', '--cacert', '')).toEqual([':0']);
  expect(await completed('completion', '')).toEqual([...SHELLS, ':4']);
  expect(await completed('completion', 'bash', '')).toEqual([':4']);
  expect(await completed('constructor', '')).toEqual([':4']);
});

test('bash completes by the script that is for it', async () => {
  await writeFile(join(dir, 'script'), answer(['bash'], ''));
  const asking = `
    source ${join(dir, 'script')}
    compopt() { echo "compopt $*"; }
    COMP_WORDS=(kubectl-ballast watch --ver) COMP_CWORD=2
    _kubectl_ballast; echo "\${COMPREPLY[@]}"
    COMP_WORDS=(kubectl-ballast audit '') COMP_CWORD=2
    _kubectl_ballast; echo "\${#COMPREPLY[@]}"
    complete -p kubectl-ballast`;
  const { stdout, stderr } = run('bash', ['--norc', '-c', asking]);
  expect(stderr).toBe('');
  expect(stdout).toBe(
    '--verify\ncompopt -o default\n0\ncomplete -F _kubectl_ballast kubectl-ballast\n',
  );
});

test('the program that kubectl asks for says it as kubectl reads it', async () => {
  await program('kubectl_complete-ballast', answer(['kubectl'], ''));
  const { stdout, status } = run('kubectl_complete-ballast', ['rights', 'nats']);
  expect([status, stdout]).toEqual([0, 'nats-cluster\n:4\n']);
});

test.each([
  [[], 'for which shell?'],
  [['ksh'], 'nothing is known of "ksh"'],
  [['bash', 'zsh'], 'one shell at a time'],
])('%j is refused', (args, why) => {
  expect(() => answer(args, '')).toThrow(UsageError);
  expect(() => answer(args, '')).toThrow(why);
});

test('the help of the program loads no command', () => {
  const args = ['--import', TELL_LOADED, join(dir, 'main.mjs'), '--help'];
  const { stdout, stderr } = run(process.execPath, args);
  expect(stdout).toContain('usage: kubectl ballast COMMAND');
  const loaded = JSON.parse(stderr.split('\n').at(-1) ?? '');
  expect(loaded.packages).toEqual([]);
  expect(loaded.files).toBeLessThanOrEqual(FILES_MAX);
});
