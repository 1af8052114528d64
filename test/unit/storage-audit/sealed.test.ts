// The audit of a backup that is sealed: with its key, and refused without it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAudit } from '../../../functions/storage-audit/command.ts';
import { writeBoltFile } from '../../builders/bolt-file.ts';
import { bytesOf, keyFiles, keyOf, sealedOf } from '../sealed/samples.ts';

const write = keyFiles();
const key = await keyOf(write, 1);
const fileOf = (first: number): string => write(`${first}`, bytesOf(first));

let dir: string;
let plain: string;
let sealed: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'audit-sealed-'));
  [plain, sealed] = [join(dir, 'plain.db'), join(dir, 'sealed.db')];
  writeBoltFile(plain, [{ main: 2, key: '/registry/configmaps/a/b', value: '{}' }]);
  writeFileSync(sealed, sealedOf([readFileSync(plain)], key, 4_096));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function audit(...args: readonly string[]): Promise<Record<string, unknown>> {
  let said = '';
  const out = (text: string): void => void (said += text);
  await runAudit([...args, '--json'], { out, err: () => undefined, isWatched: false });
  return JSON.parse(said) as Record<string, unknown>;
}

test('with its key it is read as one that is not sealed', async () => {
  const { of, ...report } = await audit(sealed, '--encrypt-key-file', fileOf(1));
  const { of: ofPlain, ...wanted } = await audit(plain);
  expect(report).toEqual(wanted);
  expect(of).toEqual({ ...(ofPlain as object), source: sealed });
});

test.each<[string, () => readonly string[], string]>([
  ['no key', () => [sealed], 'BACKUP_SEALED'],
  ['another key', () => [sealed, '--encrypt-key-file', fileOf(2)], 'BACKUP_KEY_WRONG'],
  ['a key too many', () => [plain, '--encrypt-key-file', fileOf(1)], 'BACKUP_UNSEALED'],
  ['no file', () => [join(dir, 'x'), '--encrypt-key-file', fileOf(1)], 'SNAPSHOT_DAMAGED'],
  ['an etcd', () => ['--etcd', 'http://a:1', '--encrypt-key-file', 'k'], 'QUERY_INVALID'],
])('with %s it is refused', async (_, args, code) => {
  expect(await audit(...args())).toMatchObject({ outcome: 'unknown', error: { code } });
});
