// The client before an object storage that is slow, broken, wrong or lying, or whose answers are
// lost.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { contentOf } from '../../../shared/s3/content.ts';
import { answers, breaksOff, poseAsS3, refusesS3 } from '../../builders/posing-s3.ts';

const upload = { key: 'a/etcd.db', id: 'u1' };
const body = Buffer.from('part');
const content = contentOf(body);
const sha256 = createHash('sha256').update(body).digest('base64');
const gone = refusesS3(404, 'NoSuchUpload');
const headOf = (writer: string) =>
  answers(200, { etag: '"e"', 'content-length': '4', 'x-amz-meta-ballast-writer': writer });

test('what may pass is sent again: 503, SlowDown, a lost connection', async () => {
  const s3 = await poseAsS3(
    refusesS3(503, 'SlowDown'),
    breaksOff,
    refusesS3(500, 'InternalError'),
    refusesS3(400, 'RequestTimeout'),
    answers(200, { etag: '"p"', 'x-amz-checksum-sha256': sha256 }),
  );
  const part = await s3.open().uploadPart(upload, 3, content, { offset: 8 });
  expect(part).toEqual({ number: 3, etag: '"p"', sha256 });
  expect(new Set(s3.asked.map(({ path }) => path))).toEqual(
    new Set(['/backups/a/etcd.db?partNumber=3&uploadId=u1']),
  );
  expect(s3.asked.map((one) => one.body.toString())).toEqual(Array(5).fill('part'));
});

test('not for ever, and the failure says which part and bytes, and the answer', async () => {
  const s3 = await poseAsS3(refusesS3(503, 'SlowDown'));
  await expect(s3.open().uploadPart(upload, 3, content, { offset: 8 })).rejects.toMatchObject({
    code: 'S3_UNAVAILABLE',
    message: expect.stringMatching(
      /^Sending part 3 of s3:.*\/a\/etcd.db, bytes 8 to 12, failed: http.*503 SlowDown: said so/,
    ),
  });
  expect(s3.asked).toHaveLength(8);
});

test('each request is signed with the hash of its body; token and encryption go too', async () => {
  const s3 = await poseAsS3(answers(200, { etag: '"e"' }));
  const given = { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' };
  const bucket = s3.open({ credentials: { given }, encryption: 'aws:kms:k1', region: 'eu-9' });
  await bucket.putNew('a b/+.json', body, 'me');
  const [{ path, headers } = { path: '', headers: {} }] = s3.asked;
  expect(path).toBe('/backups/a%20b/%2B.json');
  expect(headers).toMatchObject({
    'if-none-match': '*',
    'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
    'x-amz-checksum-sha256': sha256,
    'x-amz-security-token': 'token',
    'x-amz-server-side-encryption': 'aws:kms',
    'x-amz-server-side-encryption-aws-kms-key-id': 'k1',
  });
  expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/eu-9\/s3\//);
});

test('two clocks that differ are brought together by that of the storage, once', async () => {
  const date = { date: 'Tue, 01 Jan 2030 00:00:00 GMT' };
  const s3 = await poseAsS3(
    refusesS3(403, 'RequestTimeTooSkewed', date),
    answers(200, { etag: '"p"' }),
    refusesS3(403, 'RequestTimeTooSkewed', date),
  );
  const bucket = s3.open();
  await bucket.uploadPart(upload, 1, content, { offset: 0 });
  expect(s3.asked.map(({ headers }) => String(headers['x-amz-date']).slice(0, 8))).toEqual([
    '19700101',
    '20300101',
  ]);
  await expect(bucket.uploadPart(upload, 2, content, { offset: 0 })).rejects.toMatchObject({
    code: 'S3_REFUSED',
    message: expect.stringContaining('Set the clock of this machine right.'),
  });
});

test('a clock that differs is seen in an answer without words as well', async () => {
  const date = { date: 'Tue, 01 Jan 2030 00:00:00 GMT' };
  const s3 = await poseAsS3(answers(403, date), answers(404));
  expect(await s3.open().head('k')).toBeUndefined();
  expect(s3.asked[1]?.headers['x-amz-date']).toMatch(/^20300101/);
});

test('a storage that says that it has another checksum is not believed', async () => {
  const s3 = await poseAsS3(answers(200, { etag: '"p"', 'x-amz-checksum-sha256': 'other' }));
  await expect(s3.open().uploadPart(upload, 1, content, { offset: 0 })).rejects.toMatchObject({
    code: 'S3_CHECKSUM',
    message: expect.stringContaining(`has the sha256 other, not ${sha256}`),
  });
});

test('an upload that ends with 200 and an error has not ended', async () => {
  const s3 = await poseAsS3(
    answers(200, {}, '\n\n<Error><Code>InternalError</Code></Error>'),
    answers(200, {}, '<CompleteMultipartUploadResult/>'),
  );
  const parts = [{ number: 1, etag: '"p"', sha256 }];
  await s3.open().completeUpload(upload, parts, 'me');
  expect(s3.asked).toHaveLength(2);
  expect(s3.asked[0]?.body.toString()).toBe(
    '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"p"</ETag>' +
      `<ChecksumSHA256>${sha256}</ChecksumSHA256></Part></CompleteMultipartUpload>`,
  );
});

test.each(['NoSuchUpload', 'PreconditionFailed'])(
  'a completion whose answer was lost is known by its writer: %s',
  async (code) => {
    const again = refusesS3(code === 'NoSuchUpload' ? 404 : 412, code);
    const s3 = await poseAsS3(breaksOff, again, headOf('me'));
    await s3.open().completeUpload(upload, [], 'me');
    const other = await poseAsS3(breaksOff, again, headOf('somebody'));
    await expect(other.open().completeUpload(upload, [], 'me')).rejects.toMatchObject({
      code: 'S3_CONFLICT',
    });
  },
);

test('an upload that was begun for nobody is aborted', async () => {
  const listed = (key: string, id: string, at: string) =>
    `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${at}</Initiated></Upload>`;
  const later = '1970-01-01T00:00:01.000Z';
  const list =
    listed('a/etcd.db', 'before', '1969-12-31T23:59:59.000Z') +
    listed('a/etcd.db', 'ours', later) +
    listed('a/etcd.db.other', 'theirs', later);
  const s3 = await poseAsS3(
    breaksOff,
    answers(200, {}, `<ListMultipartUploadsResult>${list}</ListMultipartUploadsResult>`),
    answers(204),
    gone,
  );
  await expect(s3.open().createUpload('a/etcd.db', 'me')).rejects.toMatchObject({
    code: 'S3_UNAVAILABLE',
  });
  expect(s3.asked.slice(2).map(({ method, path }) => `${method} ${path.split('?')[0]}`)).toEqual([
    'DELETE /backups/a/etcd.db',
    'GET /backups/a/etcd.db',
  ]);
  expect(s3.asked[2]?.path).toContain('uploadId=ours');
});

test('one is found by the clock of the storage, which may be behind ours', async () => {
  const list = '<Upload><Key>k</Key><UploadId>ours</UploadId><Initiated>AT</Initiated></Upload>';
  const date = { date: 'Wed, 31 Dec 1969 23:59:00 GMT' };
  const s3 = await poseAsS3(
    answers(404, date),
    breaksOff,
    answers(200, {}, list.replace('AT', '1969-12-31T23:59:00.000Z')),
    answers(204),
    gone,
  );
  const bucket = s3.open();
  await bucket.head('k');
  await expect(bucket.createUpload('k', 'me')).rejects.toMatchObject({ code: 'S3_UNAVAILABLE' });
  expect(s3.asked[3]?.path).toContain('uploadId=ours');
});

test('an abort is repeated while a part that came late keeps the upload', async () => {
  const s3 = await poseAsS3(answers(204), answers(200), answers(204), gone);
  await s3.open().abortUpload(upload);
  expect(s3.asked.map(({ method }) => method)).toEqual(['DELETE', 'GET', 'DELETE', 'GET']);
});

test('an upload is looked for on every page of the list', async () => {
  const page = (id: string, more: string) =>
    answers(200, {}, `<Upload><Key>a/etcd.db</Key><UploadId>${id}</UploadId></Upload>${more}`);
  const more =
    '<IsTruncated>true</IsTruncated><NextKeyMarker>a/etcd.db</NextKeyMarker>' +
    '<NextUploadIdMarker>u&amp;0</NextUploadIdMarker>';
  const pages = [page('u&amp;0', more), page('u1', '<IsTruncated>false</IsTruncated>')];
  const s3 = await poseAsS3(...pages);
  expect((await s3.open().uploads('a/etcd.db')).map(({ id }) => id)).toEqual(['u&0', 'u1']);
  expect(s3.asked[1]?.path).toMatch(/&key-marker=a%2Fetcd.db&upload-id-marker=u%260/);
  const unknown = refusesS3(400, 'InvalidArgument');
  const byKeys = await poseAsS3(page('u0', more), unknown, page('u1', ''));
  expect(await byKeys.open().uploads('a/etcd.db')).toHaveLength(2);
  expect(byKeys.asked[2]?.path).toMatch(/&key-marker=a%2Fetcd.db$/);
});

test('an upload whose parts may not be listed is looked for in the list', async () => {
  const still = '<Upload><Key>a/etcd.db</Key><UploadId>u1</UploadId></Upload>';
  const denied = refusesS3(403, 'AccessDenied');
  const s3 = await poseAsS3(answers(204), denied, answers(200, {}, still), answers(204), denied);
  await s3.open().abortUpload(upload);
  expect(s3.asked.map(({ method }) => method)).toEqual('DELETE GET GET DELETE GET GET'.split(' '));
});

test('keys are listed to the end, and a list that does not go on is none', async () => {
  const key = (name: string) => `<Contents><Key>${name}</Key></Contents>`;
  const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>t1</NextContinuationToken>';
  const s3 = await poseAsS3(answers(200, {}, key('a') + more), answers(200, {}, key('b')));
  expect(await s3.open().list('')).toEqual({ keys: ['a', 'b'], isWhole: true });
  expect(s3.asked[1]?.path).toContain('continuation-token=t1');
  const stuck = await poseAsS3(answers(200, {}, key('a') + more));
  await expect(stuck.open().list('')).rejects.toMatchObject({
    message: expect.stringContaining('a list that does not go on'),
  });
  expect(stuck.asked).toHaveLength(2);
});

test('a deletion whose answer was lost has been made', async () => {
  const s3 = await poseAsS3(
    headOf('me'),
    breaksOff,
    refusesS3(412, 'PreconditionFailed'),
    answers(404),
  );
  expect(await s3.open().deleteOwn('k', 'me')).toBe(true);
  const other = await poseAsS3(headOf('me'), refusesS3(412, 'PreconditionFailed'), headOf('you'));
  await expect(other.open().deleteOwn('k', 'me')).rejects.toMatchObject({ code: 'S3_CONFLICT' });
});

test('only what this writer wrote is deleted, as it was', async () => {
  const s3 = await poseAsS3(headOf('me'), answers(204), headOf('somebody'));
  const bucket = s3.open();
  expect(await bucket.deleteOwn('k', 'me')).toBe(true);
  expect(s3.asked[1]?.headers['if-match']).toBe('"e"');
  expect(await bucket.deleteOwn('k', 'me')).toBe(false);
  expect(s3.asked).toHaveLength(3);
});

test.each([
  [404, 'NoSuchBucket', 'S3_NOT_FOUND', 'Make the bucket, or name another one.'],
  [403, 'InvalidAccessKeyId', 'S3_REFUSED', 'See that the key id is one'],
  [403, 'SignatureDoesNotMatch', 'S3_REFUSED', 'See that the secret key is the one'],
  [404, 'NoSuchUser', 'S3_REFUSED', 'NoSuchUser: said so'],
  [501, 'NotImplemented', 'S3_REFUSED', 'take another one'],
  [301, 'PermanentRedirect', 'S3_REFUSED', 'Its region is eu-1. Name the region'],
])('%i %s is told at once, with what to do', async (status, s3Code, code, advice) => {
  const s3 = await poseAsS3(refusesS3(status, s3Code, { 'x-amz-bucket-region': 'eu-1' }));
  await expect(s3.open().createUpload('k', 'me')).rejects.toMatchObject({
    code,
    message: expect.stringContaining(advice),
  });
  expect(s3.asked.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('a sentence of the storage that ends in a full stop gets no second one', async () => {
  const said = '<Error><Code>NoSuchBucket</Code><Message>It is not there.</Message></Error>';
  const s3 = await poseAsS3(answers(404, {}, said));
  await expect(s3.open().createUpload('k', 'me')).rejects.toMatchObject({
    message: expect.stringContaining('NoSuchBucket: It is not there. Make the bucket'),
  });
});

test('an answer without end is not read', async () => {
  const s3 = await poseAsS3((response) => {
    const more = (): void => {
      while (response.write('x'.repeat(100_000)));
    };
    response.writeHead(200).on('drain', more);
    more();
  });
  await expect(s3.open().list('')).rejects.toMatchObject({
    code: 'S3_UNAVAILABLE',
    message: expect.stringContaining('an answer without end'),
  });
});

test('a storage that takes a request and says nothing is asked again', async () => {
  const s3 = await poseAsS3(() => undefined, refusesS3(404, 'NoSuchKey'));
  expect(await s3.open({}, { silenceMs: 20 }).head('k')).toBeUndefined();
  expect(s3.asked).toHaveLength(2);
});

test('where a deletion knows no condition, the object is looked at just before', async () => {
  const found = { sizeBytes: 4, etag: '"e"', writer: undefined, sha256: undefined };
  const unknown = refusesS3(501, 'NotImplemented');
  const same = await poseAsS3(unknown, headOf('me'), answers(204));
  await same.open().deleteFound('k', found);
  expect(same.asked.map(({ method, headers }) => [method, headers['if-match']])).toEqual([
    ['DELETE', '"e"'],
    ['HEAD', undefined],
    ['DELETE', undefined],
  ]);
  const other = await poseAsS3(unknown, headOf('you'), answers(204));
  const deletion = other.open().deleteFound('k', { ...found, etag: '"another"' });
  await expect(deletion).rejects.toThrow('NotImplemented');
  expect(other.asked.map(({ method }) => method)).toEqual(['DELETE', 'HEAD']);
});
