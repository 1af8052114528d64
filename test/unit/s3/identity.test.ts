// Keys by the identity of a pod: whom its token is given to, how long they are used, and what is
// said when there are none.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Identity } from '../../../shared/s3/credentials.ts';
import { HandClock } from '../../builders/hand-clock.ts';
import { answers, poseAsS3, refusesS3, type S3Manner } from '../../builders/posing-s3.ts';

const HOUR_MS = 3_600_000;
const ROLE = 'arn:aws:iam::1:role/backups';

let dir: string;
let tokenPath: string;
let clock: HandClock;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'identity-'));
  tokenPath = join(dir, 'token');
  writeFileSync(tokenPath, 'first\n');
  clock = new HandClock();
});

afterEach(() => rmSync(dir, { recursive: true }));

const inAnHour = (): string => new Date(clock.nowMs() + HOUR_MS).toISOString();

const role = (accessKeyId: string) =>
  answers(
    200,
    {},
    '<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>' +
      `<AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>` +
      `<SessionToken>session</SessionToken><Expiration>${inAnHour()}</Expiration>` +
      '</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>',
  );

const service = (fields: object) => answers(200, {}, JSON.stringify(fields));

const stored = answers(200, { etag: '"1"' });

const roleAt = (endpoint: string): Identity => ({
  webIdentity: { roleArn: ROLE, tokenPath, sessionName: 'a backup', endpoint, caPath: undefined },
});

const serviceAt = (url: string): Identity => ({ keyService: { url, tokenPath } });

/** Two requests of one bucket; what was asked, the way to the keys included. */
async function asking(identity: (url: string) => Identity, ...manners: readonly S3Manner[]) {
  const s3 = await poseAsS3(...manners);
  const bucket = s3.open({ credentials: { identity: identity(s3.url) } }, { clock });
  const put = () => bucket.putNew('a', Buffer.from('a'), 'the object');
  return { s3, put };
}

test('the token is given for keys of the role, which sign all that follows', async () => {
  const { s3, put } = await asking(roleAt, role('lent'), stored);
  await put();
  await put();
  const [asked, ...requests] = s3.asked;
  expect(Object.fromEntries(new URLSearchParams(asked?.body.toString()))).toEqual({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: ROLE,
    RoleSessionName: 'a backup',
    WebIdentityToken: 'first',
  });
  expect(requests).toHaveLength(2);
  for (const { headers } of requests) {
    expect(headers.authorization).toContain('Credential=lent/');
    expect(headers['x-amz-security-token']).toBe('session');
  }
});

test('keys that are about to end are given back for others, by the token of then', async () => {
  const { s3, put } = await asking(roleAt, role('lent'), stored, role('other'), stored);
  await put();
  writeFileSync(tokenPath, 'second');
  await clock.sleep(HOUR_MS - 4 * 60_000);
  await put();
  expect(s3.asked[2]?.body.toString()).toContain('WebIdentityToken=second');
  expect(s3.asked[3]?.headers.authorization).toContain('Credential=other/');
});

test('a service on the node hands them out to the bearer of the token', async () => {
  const fields = { AccessKeyId: 'lent', SecretAccessKey: 'secret', Token: 'session' };
  const keys = service({ ...fields, Expiration: inAnHour() });
  const { s3, put } = await asking((url) => serviceAt(`${url}/v1/credentials`), keys, stored);
  await put();
  const [asked, request] = s3.asked;
  expect([asked?.path, asked?.headers.authorization]).toEqual(['/v1/credentials', 'first']);
  expect(request?.headers.authorization).toContain('Credential=lent/');
});

test.each<[string, readonly S3Manner[], string, RegExp]>([
  [
    'a refused role',
    [refusesS3(403, 'AccessDenied')],
    'S3_REFUSED',
    /^Assuming the role arn:aws:iam::1:role\/backups failed: .* 403 AccessDenied/,
  ],
  ['an answer without keys', [answers(200, {}, '<Nothing/>')], 'S3_UNAVAILABLE', /no keys with an/],
  [
    'an answer without end',
    [answers(200, {}, 'x'.repeat(70_000))],
    'S3_UNAVAILABLE',
    /an answer without end/,
  ],
])('%s is told', async (_, manners, code, message) => {
  const { put } = await asking(roleAt, ...manners);
  await expect(put()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

test.each<[string, () => Identity, RegExp]>([
  [
    'no token',
    () => ({ keyService: { url: 'http://127.0.0.1:1', tokenPath: join(dir, 'none') } }),
    /token of this pod.*cannot be read/,
  ],
  [
    'a service over the network in the clear',
    () => serviceAt('http://keys.example/'),
    /in the clear/,
  ],
  ['no address', () => roleAt('sts'), /sts is no address/],
])('%s is refused, and nobody is asked', async (_, identity, message) => {
  const { s3, put } = await asking(identity, stored);
  await expect(put()).rejects.toMatchObject({
    code: 'S3_ACCESS_UNUSABLE',
    message: expect.stringMatching(message),
  });
  expect(s3.asked).toEqual([]);
});
