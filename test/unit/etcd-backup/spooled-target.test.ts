// A stream lies on the disk, and its parts go out from there with the hash of what came: a disk
// that has something else ends the backup, and nothing is under way afterwards.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeSync, openSync, closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { markOf } from '../../../functions/etcd-backup/mark.ts';
import { S3Target } from '../../../functions/etcd-backup/s3-target.ts';
import { SpooledTarget } from '../../../functions/etcd-backup/spooled-target.ts';
import {
  answers,
  poseAsS3,
  type PosingS3,
  refusesS3,
  type S3Manner,
} from '../../builders/posing-s3.ts';

const dir = mkdtempSync(join(tmpdir(), 'spooled-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const MIB = 1024 * 1024;
const bytes = Buffer.alloc(17 * MIB, 0).map((_, at) => at >> 12);
const { signal } = new AbortController();
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** As a storage that holds every part against the hash that comes with it. */
const holds: S3Manner = (response, asked) => {
  const { method, path, headers, body } = asked;
  if (method === 'POST' && path.includes('uploads=')) {
    answers(200, {}, '<UploadId>u1</UploadId>')(response, asked);
  } else if (method !== 'PUT') answers(404)(response, asked);
  else if (headers['x-amz-content-sha256'] !== sha256(body)) {
    refusesS3(400, 'XAmzContentSHA256Mismatch')(response, asked);
  } else answers(200, { etag: '"p"' })(response, asked);
};

async function begun(manner: S3Manner): Promise<{ s3: PosingS3; target: SpooledTarget }> {
  const s3 = await poseAsS3(manner);
  const place = { bucket: 'backups', key: 'etcd.db' };
  const object = new S3Target(s3.open(), { place, mark: markOf(undefined), isNameOwn: false });
  const target = new SpooledTarget(object, { spoolDir: dir });
  await target.begin(bytes.length, signal);
  return { s3, target };
}

async function sendAll(target: SpooledTarget): Promise<void> {
  for (let offset = 0, number = 1; offset < bytes.length; offset += MIB, number += 1) {
    await target.send({ bytes: Buffer.from(bytes.subarray(offset, offset + MIB)), number, offset });
  }
}

const partsOf = ({ asked }: PosingS3) => asked.filter(({ method }) => method === 'PUT');
const facts = { sizeBytes: bytes.length } as Parameters<SpooledTarget['finish']>[0];

test('parts of one size go out as they came, the last one as long as the rest', async () => {
  const { s3, target } = await begun(holds);
  await sendAll(target);
  // Behind them a storage that knows of no object.
  await expect(target.finish(facts, signal)).rejects.toMatchObject({ code: 'S3_NOT_FOUND' });
  const parts = partsOf(s3).toSorted((one, other) => one.path.localeCompare(other.path));
  expect(parts.map(({ body }) => body.length)).toEqual([8 * MIB, 8 * MIB, MIB]);
  expect(Buffer.concat(parts.map(({ body }) => body)).equals(bytes)).toBe(true);
  await target.close();
});

test('a byte that is another one on the disk is found by the storage', async () => {
  const { s3, target } = await begun(holds);
  await target.send({ bytes: Buffer.from(bytes.subarray(0, MIB)), number: 1, offset: 0 });
  const fd = openSync(target.spool.path, 'r+');
  writeSync(fd, Buffer.of(99), 0, 1, 5_000);
  closeSync(fd);
  await expect(target.finish(facts, signal)).rejects.toMatchObject({ code: 'S3_CHECKSUM' });
  expect(partsOf(s3).length).toBeGreaterThan(0);
  await target.close();
});

test('a part that is refused ends the stream, and nothing goes out after an abort', async () => {
  const refuses: S3Manner = (response, asked) =>
    asked.method === 'PUT'
      ? refusesS3(403, 'AccessDenied')(response, asked)
      : holds(response, asked);
  const { s3, target } = await begun(refuses);
  await expect(
    (async () => {
      for (;;) await sendAll(target);
    })(),
  ).rejects.toMatchObject({ code: 'S3_REFUSED' });
  await target.abort();
  const sent = partsOf(s3).length;
  expect(s3.asked.at(-1)?.method).not.toBe('PUT');
  expect(partsOf(s3)).toHaveLength(sent);
  await target.close();
});
