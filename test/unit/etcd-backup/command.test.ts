// The backup as a command: what it is told, and the one line that it answers with.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runBackup } from '../../../functions/etcd-backup/command.ts';
import { commandOptions } from '../../../functions/etcd-backup/options.ts';
import { poseAsEtcd, says } from '../../builders/posing-etcd.ts';

const dir = mkdtempSync(join(tmpdir(), 'backup-command-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function run(...args: readonly string[]) {
  const said = { out: '', err: '' };
  const terminal = {
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
    isWatched: false,
  };
  const code = await runBackup(args, terminal, new AbortController().signal);
  return { code, ...said };
}

const ETCD = ['--etcd', 'http://127.0.0.1:2379'];

test.each([
  [[], 'say what to back up: --etcd URL'],
  [ETCD, 'say where to: --to s3://... or a FILE'],
  [['--etcd', 'etcd', '--to', 'f'], '--etcd must be an address'],
  [[...ETCD, '--to', 's3://b'], 's3://b is no object'],
  [[...ETCD, '--to', 'f', '--cert', 'c'], '--cert and --key go together'],
  [[...ETCD, '--to', 'f', '--user', 'root'], '--user and --password-file go together'],
  [[...ETCD, '--to', 's3://bbb/k', '--s3-sse', 'DES'], '--s3-sse is AES256'],
  [[...ETCD, '--to', 's3://bbb/k', '--s3-style', 'x'], '--s3-style is path or host'],
  [[...ETCD, '--to', 's3://bbb/k', '--s3-endpoint', 'x'], '--s3-endpoint must be as'],
  [[...ETCD, '--to', 's3://bbb/k', '--spool-bytes', '2Gi'], '--spool-bytes wants a whole number'],
  [[...ETCD, '--to', 'f', '--writer', 'short'], '--writer is 16 to 128 letters'],
  [[...ETCD, '--to', 's3://bbb/k', '--own-name'], '--own-name goes with --writer'],
])('%j ends with 2', async (args, message) => {
  const { code, out, err } = await run(...args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(new RegExp(`^${message}[^]*\n\nusage: npm run backup`));
});

test('whoever waits for a result is told what was wrong', async () => {
  const path = join(dir, 'wrong.json');
  for (const result of [['--result', path], [`--result=${path}`]]) {
    rmSync(path, { force: true });
    const to = ['--to', 's3://bbb/k', '--s3-endpoint', 'https://s3:99999'];
    expect((await run(...ETCD, ...to, ...result)).code).toBe(2);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      outcome: 'failed',
      error: {
        code: 'BACKUP_OPTIONS_WRONG',
        message: expect.stringMatching(
          /^The program was asked wrongly: --s3-endpoint must .*99999/,
        ),
      },
    });
  }
});

test('a name that is taken ends with 2, since another try would say the same', async () => {
  const path = join(dir, 'taken.db');
  writeFileSync(path, 'of somebody');
  const { code, out } = await run(...ETCD, '--to', path);
  expect(code).toBe(2);
  expect(JSON.parse(out)).toMatchObject({ error: { code: 'BACKUP_EXISTS' } });
});

test('what is no key ends with 2, since another try would say the same', async () => {
  const path = join(dir, 'half-a-key');
  writeFileSync(path, 'too short');
  const { code, out } = await run(...ETCD, '--to', join(dir, 'x'), '--encrypt-key-file', path);
  expect(code).toBe(2);
  expect(JSON.parse(out)).toMatchObject({
    error: {
      code: 'BACKUP_KEY_UNUSABLE',
      message: expect.stringContaining('openssl rand -base64 32'),
    },
  });
  expect(out).not.toContain('too short');
});

test('what it is told is what is done', async () => {
  const password = join(dir, 'password');
  writeFileSync(password, 'secret\n');
  const tls = ['--cacert', 'ca', '--cert', 'c', '--key', 'k'];
  const login = ['--user', 'root', '--password-file', password];
  const to = ['--to', 's3://backups/etcd.db', '--spool', '/spool', '--s3-sse', 'aws:kms:k'];
  const more = ['--s3-region', 'eu-1', '--encrypt-key-file', 'k', '--confirm-up-to', '0'];
  const options = await commandOptions([...ETCD, ...tls, ...login, ...to, ...more]);
  expect(options).toMatchObject({
    confirmUpToBytes: 0,
    sealing: { keyPath: 'k', spoolDir: '/spool' },
    etcd: {
      endpoints: ['http://127.0.0.1:2379'],
      tls: { caPath: 'ca', certPath: 'c', keyPath: 'k' },
      login: { user: 'root', password: 'secret' },
    },
    to: {
      spoolDir: '/spool',
      address: {
        place: { bucket: 'backups', key: 'etcd.db' },
        settings: { region: 'eu-1', encryption: 'aws:kms:k', isPathStyle: false },
      },
    },
  });
});

test('a failure is one line that fits into a termination message, whatever it quotes', async () => {
  // Each of them takes two bytes in JSON.
  const login = ['--user', 'root', '--password-file', join(dir, '"'.repeat(10_000))];
  const { code, out } = await run(...ETCD, ...login, '--to', join(dir, 'x'));
  expect(code).toBe(1);
  expect(out).toMatch(/^[^\n]+\n$/);
  expect(Buffer.byteLength(out)).toBeLessThan(4096);
  expect(JSON.parse(out)).toMatchObject({ error: { code: 'ETCD_ACCESS_UNREADABLE' } });
});

test('the result is written where it was asked for as well', async () => {
  const etcd = await poseAsEtcd(says({ code: 2, message: 'broken' }, 500));
  const path = join(dir, 'result.json');
  const to = ['--to', join(dir, 'x'), '--result', path];
  const { code, out } = await run('--etcd', etcd.url, ...to);
  expect([code, readFileSync(path, 'utf8')]).toEqual([1, out]);
  expect(JSON.parse(out)).toMatchObject({ outcome: 'failed', error: { code: 'ETCD_UNAVAILABLE' } });
});
