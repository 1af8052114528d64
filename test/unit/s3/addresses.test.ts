// Addresses of objects in both styles, and keys that a URL would turn into others.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { s3AddressOf } from '../../../shared/s3/arguments.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { Credentials, CredentialSource } from '../../../shared/s3/credentials.ts';
import { Keys } from '../../../shared/s3/keys.ts';
import { placeIn } from '../../../shared/s3/place.ts';
import { urlOf } from '../../../shared/s3/pool.ts';
import { s3Settings } from '../../../shared/s3/settings.ts';

const dir = mkdtempSync(join(tmpdir(), 's3-addresses-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

test.each([
  ['s3://backups/a/b c+.db', { bucket: 'backups', key: 'a/b c+.db' }],
  ['s3://backups', { why: 'it names no object in the bucket' }],
  ['s3://backups/a/', { why: 'it names no object in the bucket' }],
  ['s3://B_/a', { why: 'the bucket is no name that S3 takes' }],
  ['s3://backups/a/../b', { why: 'its key has a part that is empty, "." or ".."' }],
  ['s3://backups/a//b', { why: 'its key has a part that is empty, "." or ".."' }],
  ['s3://backups/a\nb', { why: 'its key has control characters' }],
  [`s3://backups/${'a'.repeat(1001)}`, { why: 'its key has more than 1000 bytes' }],
])('%j', (text, place) => {
  expect(placeIn(text)).toEqual(place);
});

test('the bucket stands before the host of Amazon, and in the path of any other', () => {
  vi.stubEnv('AWS_REGION', 'eu-1');
  const url = (settings: Parameters<typeof s3Settings>[0]): string =>
    urlOf(s3Settings(settings), 'backups', "a b/+'.db").href;
  expect(url({})).toBe('https://backups.s3.eu-1.amazonaws.com/a%20b/%2B%27.db');
  const endpoint = 'https://s3.example:9000/s3';
  expect(url({ endpoint })).toBe(`${endpoint}/backups/a%20b/%2B%27.db`);
  expect(url({ endpoint, style: 'host' })).toBe(
    'https://backups.s3.example:9000/s3/a%20b/%2B%27.db',
  );
});

const keysOf = (source: CredentialSource): Promise<Credentials> =>
  new Keys(source, systemClock).read();

test('the environment says what the command does not', () => {
  vi.stubEnv('AWS_ENDPOINT_URL', 'https://any.example');
  vi.stubEnv('AWS_ENDPOINT_URL_S3', 'https://s3.example');
  vi.stubEnv('AWS_DEFAULT_REGION', 'eu-2');
  vi.stubEnv('AWS_CA_BUNDLE', '/ca.crt');
  const { settings } = s3AddressOf('s3://backups/a', { 's3-region': 'eu-3' }) ?? {};
  expect(settings).toMatchObject({
    endpoint: 'https://s3.example',
    region: 'eu-3',
    caPath: '/ca.crt',
    isPathStyle: true,
  });
});

test('credentials come from the environment, or from a file that is read each time', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const given = { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: undefined };
  expect(await keysOf(s3Settings().credentials)).toEqual(given);
  const path = join(dir, 'credentials');
  const source = s3Settings({ credentialsPath: path }).credentials;
  writeFileSync(path, '[other]\naws_access_key_id = no\n');
  await expect(keysOf(source)).rejects.toMatchObject({
    code: 'S3_ACCESS_UNUSABLE',
    message: expect.stringContaining('Profile default'),
  });
  writeFileSync(
    path,
    '[default]\naws_access_key_id = a\naws_secret_access_key=b\naws_session_token = c=\n[x]\n',
  );
  expect(await keysOf(source)).toEqual({
    accessKeyId: 'a',
    secretAccessKey: 'b',
    sessionToken: 'c=',
  });
});

test('without any credentials it is said where they are looked for', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', '');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(dir, 'absent'));
  await expect(keysOf(s3Settings().credentials)).rejects.toMatchObject({
    code: 'S3_ACCESS_UNUSABLE',
    message: expect.stringMatching(/cannot be read.*AWS_ACCESS_KEY_ID.*--s3-credentials/),
  });
});

test('keys come before the identity of a pod, and that before the usual file', () => {
  vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::1:role/backups');
  vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', '/token');
  vi.stubEnv('AWS_REGION', 'eu-2');
  vi.stubEnv('AWS_CA_BUNDLE', '/ca.crt');
  const { credentials } = s3Settings();
  expect(credentials).toEqual({
    identity: {
      webIdentity: {
        roleArn: 'arn:aws:iam::1:role/backups',
        tokenPath: '/token',
        sessionName: 'ballast',
        endpoint: 'https://sts.eu-2.amazonaws.com',
        caPath: '/ca.crt',
      },
    },
  });
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  expect(s3Settings().credentials).toMatchObject({ given: { accessKeyId: 'id' } });
  expect(s3Settings({ credentialsPath: '/keys' }).credentials).toMatchObject({ path: '/keys' });
});
