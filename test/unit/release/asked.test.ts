// `npm run release`: arguments that cannot be meant, keys that do not sign, and a clone that has
// more than its commit.
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assertCommitted } from '../../../knative/tools/release/committed.ts';
import { releaseOptions, USAGE } from '../../../knative/tools/release/options.ts';
import { UsageError } from '../../../shared/arguments.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const NAMED = ['--repository', 'images.example.com/ballast'];
const PEM = { type: 'pkcs8', format: 'pem' } as const;

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ballast-asked-'));
  const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
  const { privateKey, publicKey } = ec('prime256v1');
  const locked = { ...PEM, cipher: 'aes-256-cbc', passphrase: 'x' };
  const files: Readonly<Record<string, string | Buffer>> = {
    good: privateKey.export(PEM),
    older: privateKey.export({ type: 'sec1', format: 'pem' }),
    locked: privateKey.export(locked),
    public: publicKey.export({ type: 'spki', format: 'pem' }),
    larger: ec('secp384r1').privateKey.export(PEM),
    rsa: generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export(PEM),
    none: 'none',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
});

afterAll(() => rm(dir, { recursive: true }));

test.each([
  ['no repository', [], '--repository is wanted'],
  ['a repository that is none', ['--repository', 'Example.com/x'], 'wants host/path in lower case'],
  ['a word', [...NAMED, 'chart'], 'nothing is known of "chart"'],
  ['another option', [...NAMED, '--sign'], 'there is no option --sign'],
  ['no directory', [...NAMED, '--out', ''], '--out wants a directory'],
  ['plain HTTP', [...NAMED, '--url', 'http://example.com'], '--url wants an https address'],
  ['a query', [...NAMED, '--url', 'https://example.com/?a'], '--url wants an https address'],
])('%s is refused', async (_, args, why) => {
  await expect(releaseOptions(args)).rejects.toThrow(UsageError);
  await expect(releaseOptions(args)).rejects.toThrow(why);
});

test.each([
  ['no-such', 'ENOENT'],
  ['none', 'is no private key in PEM, or has a passphrase'],
  ['public', 'is no private key in PEM, or has a passphrase'],
  ['locked', 'is no private key in PEM, or has a passphrase'],
  ['larger', 'is no key on P-256'],
  ['rsa', 'is no key on P-256'],
])('the key %s does not sign', async (name, why) => {
  const asked = releaseOptions([...NAMED, '--sign-with', join(dir, name)]);
  await expect(asked).rejects.toThrow(UsageError);
  await expect(asked).rejects.toThrow(why);
});

test.each(['good', 'older'])('the key %s does', async (name) => {
  const options = await releaseOptions([
    ...NAMED,
    '--sign-with',
    join(dir, name),
    '--url',
    'https://example.com/v1/',
  ]);
  expect(options?.key?.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  expect(options?.url).toBe('https://example.com/v1');
});

test('it ends with 2 and the usage when it refuses', () => {
  const args = ['knative/tools/release/main.ts'];
  const ended = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  const stderr = `--repository is wanted\n\n${USAGE}`;
  expect(ended).toMatchObject({ status: 2, stdout: '', stderr });
});

test('a clone that has more than its commit is told, and no history is no fault', async () => {
  const clone = await mkdtemp(join(dir, 'clone-'));
  await expect(assertCommitted(clone)).resolves.toBeUndefined();
  execFileSync('git', ['init', '-q'], { cwd: clone });
  await expect(assertCommitted(clone)).resolves.toBeUndefined();
  await writeFile(join(clone, 'more.ts'), '');
  await expect(assertCommitted(clone)).rejects.toThrow('which is without this: ?? more.ts');
});
