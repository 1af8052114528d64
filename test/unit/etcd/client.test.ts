// The client when etcd, or a server in its place, misbehaves: a server of our own breaks off, lies
// and hangs up as a real etcd cannot be made to.
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EtcdClient, openEtcd } from '../../../shared/etcd/client.ts';

type Answer = (response: ServerResponse) => void;

let dir: string;
let servers: Server[];
let clients: EtcdClient[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'etcd-test-'));
  [servers, clients] = [[], []];
});

afterEach(async () => {
  for (const client of clients) await client.close();
  for (const server of servers) server.close().closeAllConnections();
  await rm(dir, { recursive: true, force: true });
});

async function serve(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(response));
  });
  return listening(server);
}

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function clientOf(...answers: readonly Answer[]): Promise<EtcdClient> {
  const client = openEtcd({ endpoints: await Promise.all(answers.map(serve)) });
  clients.push(client);
  return client;
}

const ends =
  (statusCode: number, text: string): Answer =>
  (response) =>
    void response.writeHead(statusCode).end(text);
const page = ends(200, '{"header":{"revision":"7"}}');

describe('a question', () => {
  test('is asked of the next member when one fails, has no leader, or hangs up', async () => {
    const hangsUp: Answer = (response) => void response.socket?.destroy();
    const client = await clientOf(ends(503, '{"message":"no leader"}'), hangsUp, page);
    expect(await client.revision()).toBe('7');
  });

  test('that no member answers names every reason', async () => {
    const client = await clientOf(ends(503, 'no leader'), ends(500, 'stopped'));
    await expect(client.revision()).rejects.toMatchObject({
      code: 'ETCD_UNAVAILABLE',
      message: expect.stringMatching(/answered 503: no leader.*answered 500: stopped/),
    });
  });

  test.each([
    [404, 'not found', 'ETCD_REFUSED', /no JSON gateway/],
    [401, '{"code":16,"message":"invalid auth token"}', 'ETCD_REFUSED', /invalid auth token/],
    [400, '{"code":11,"message":"required revision"}', 'ETCD_COMPACTED', /Begin again/],
  ])('that is answered %i %s is %s', async (status, text, code, message) => {
    const client = await clientOf(ends(status, text), page);
    const refused = { code, message: expect.stringMatching(message) };
    await expect(client.revision()).rejects.toMatchObject(refused);
  });

  test.each(['<html>', '{}', '{"header":{}}', ''])(
    'that is answered %j is not of etcd',
    async (text) => {
      const client = await clientOf(ends(200, text));
      await expect(client.revision()).rejects.toMatchObject({
        code: 'ETCD_UNAVAILABLE',
        message: expect.stringContaining("not etcd's"),
      });
    },
  );

  test.each<[string, Answer]>([
    [
      'says that there is more and shows nothing',
      ends(200, '{"header":{"revision":"7"},"more":true}'),
    ],
    [
      'breaks off',
      (response) => {
        response.writeHead(200).write('{"header":', () => response.destroy());
      },
    ],
  ])('whose answer %s is not the end of the keys', async (_, answer) => {
    const client = await clientOf(answer);
    const first = client.entries(['/registry/'], { revision: '7' }).next();
    await expect(first).rejects.toMatchObject({ code: 'ETCD_UNAVAILABLE' });
  });

  test('for keys whose values are suddenly large is asked again for fewer', async () => {
    const limits: number[] = [];
    const small = { key: Buffer.from('/registry/a').toString('base64'), value: 'eA==' };
    const large = {
      key: Buffer.from('/registry/b').toString('base64'),
      value: 'A'.repeat(400_000),
    };
    const etcd = createServer((request, response) => {
      void (async () => {
        const { limit } = (await json(request)) as { limit: number };
        limits.push(limit);
        const one = JSON.stringify(limits.length === 1 ? small : large);
        const kvs = Array.from({ length: limit }, (_, index) => (index === 0 ? one : `,${one}`));
        const parts = ['{"header":{"revision":"7"},"more":true,"kvs":[', ...kvs, ']}'];
        // The client hangs up once it is too much.
        await pipeline(Readable.from(parts), response).catch(() => undefined);
      })();
    });
    const client = openEtcd({ endpoints: [await listening(etcd)] });
    clients.push(client);
    const entries = client.entries(['/registry/'], { revision: '7' });
    const counts: number[] = [];
    for await (const batch of entries) if (counts.push(batch.length) === 3) break;
    expect(limits).toEqual([100, 2_000, 250, 32, 6]);
    expect(counts).toEqual([100, 32, 6]);
  });

  test('ends when its caller does', async () => {
    const client = await clientOf(() => undefined);
    const gone = new Error('gone');
    const signal = AbortSignal.abort(gone);
    await expect(client.revision(signal)).rejects.toBe(gone);
  });
});

describe('a snapshot', () => {
  const content = Buffer.from('a database '.repeat(5_000));
  const digest = createHash('sha256').update(content).digest();
  const line = (blob: Buffer): string =>
    `${JSON.stringify({ result: { blob: blob.toString('base64') } })}\n`;
  const stream = (whole: Buffer, bytes = 10_000): string[] =>
    Array.from({ length: Math.ceil(whole.length / bytes) }, (_, index) =>
      line(whole.subarray(index * bytes, (index + 1) * bytes)),
    );
  const path = (): string => join(dir, 'snapshot.db');

  test('is what came, and its hash is at its end', async () => {
    const lines = stream(Buffer.concat([content, digest]));
    const client = await clientOf(ends(200, lines.join('')));
    const seen: number[] = [];
    const saved = await client.save(path(), { onProgress: (done) => void seen.push(done) });
    expect(saved).toEqual({
      sizeBytes: content.length + 32,
      sha256: digest.toString('hex'),
    });
    expect(seen.at(-1)).toBe(content.length + 32);
    expect(await readdir(dir)).toEqual(['snapshot.db']);
  });

  const whole = stream(Buffer.concat([content, digest]));
  const breaksOff: Answer = (response) => {
    response.writeHead(200).write(whole.slice(0, 3).join(''), () => response.destroy());
  };

  test.each<[string, Answer, string]>([
    ['that ends early', ends(200, whole.slice(0, 3).join('')), 'ETCD_SNAPSHOT_BROKEN'],
    ['that breaks off', breaksOff, 'ETCD_SNAPSHOT_BROKEN'],
    ['without its hash', ends(200, stream(content).join('')), 'ETCD_SNAPSHOT_BROKEN'],
    ['that is empty', ends(200, ''), 'ETCD_SNAPSHOT_BROKEN'],
    ['that is no JSON', ends(200, 'hello\n'), 'ETCD_SNAPSHOT_BROKEN'],
    [
      'that etcd gives up',
      ends(200, `${whole[0]}{"error":{"code":13,"message":"disk"}}\n`),
      'ETCD_REFUSED',
    ],
    ['of one line without end', ends(200, 'x'.repeat(9 << 20)), 'ETCD_UNAVAILABLE'],
  ])('%s leaves no file', async (_, answer, code) => {
    const client = await clientOf(answer);
    await expect(client.save(path())).rejects.toMatchObject({ code });
    expect(await readdir(dir)).toEqual([]);
  });

  test('that cannot be written says where', async () => {
    const client = await clientOf(ends(200, whole.join('')));
    const absent = join(dir, 'absent', 'snapshot.db');
    await expect(client.save(absent)).rejects.toMatchObject({
      code: 'ETCD_SNAPSHOT_BROKEN',
      object: absent,
    });
  });
});
