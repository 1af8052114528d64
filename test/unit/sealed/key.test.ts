// The key of a user: 32 random bytes in one of two forms, and nothing that only looks so.
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { readSealKey } from '../../../shared/sealed/key.ts';
import { keyFiles } from './samples.ts';

const write = keyFiles();
const RAW = Buffer.from([...Array(32).keys()]);
const BASE64 = RAW.toString('base64');

test('as it is, in base64, and with the new line of an editor it is the same key', async () => {
  const forms = [RAW, BASE64, `${BASE64}\n`, `${BASE64}\r\n`];
  const ids = [];
  for (const [index, form] of forms.entries()) {
    ids.push((await readSealKey(write(`good-${index}`, form))).id);
  }
  expect(ids).toEqual(forms.map(() => expect.stringMatching(/^[0-9a-f]{16}$/)));
  expect(new Set(ids).size).toBe(1);
});

test('nothing of it is shown, and its id is no part of it', async () => {
  const key = await readSealKey(write('shown', RAW));
  for (const shown of [JSON.stringify(key), inspect(key, { depth: 9, showHidden: true })]) {
    expect(shown).not.toContain(BASE64);
    expect(shown).not.toContain('0, 1, 2');
    expect(shown).not.toContain(RAW.toString('hex').slice(0, 8));
  }
  expect(RAW.toString('hex')).not.toContain(key.id.slice(0, 6));
});

const EXPECTED = 'It has to be 32 random bytes, as they are or in base64: openssl rand -base64 32.';

test.each<[string, Buffer | string, string]>([
  ['nothing', '', 'has 0 bytes'],
  ['a byte too few', RAW.subarray(1), 'has 31 bytes'],
  ['a byte too many', Buffer.concat([RAW, Buffer.alloc(1)]), 'has 33 bytes'],
  ['half of it in hex', '00112233445566778899aabbccddeeff', 'has 32 letters and digits'],
  ['all of it in hex', RAW.toString('hex'), 'has 64 bytes'],
  ['16 bytes in base64', RAW.subarray(16).toString('base64'), 'has 24 bytes'],
  ['two keys', `${BASE64}\n${BASE64}`, 'has 89 bytes'],
  ['without its end', BASE64.slice(0, -1), 'has 43 bytes'],
  ['with a last letter that says nothing', `${BASE64.slice(0, 42)}9=`, 'has 44 bytes'],
])('%s is none', async (name, content, why) => {
  const path = write(name.replaceAll(' ', '-'), content);
  const error: unknown = await readSealKey(path).catch((cause: unknown) => cause);
  expect(error).toMatchObject({
    code: 'BACKUP_KEY_UNUSABLE',
    message: expect.stringContaining(`in ${path} ${why}`),
  });
  expect(String(error).endsWith(EXPECTED)).toBe(true);
});

test('a file that is not there is named', async () => {
  await expect(readSealKey('/nowhere/key')).rejects.toMatchObject({
    code: 'BACKUP_KEY_UNUSABLE',
    message: expect.stringMatching(/in \/nowhere\/key cannot be read \(ENOENT/),
  });
});
