// A server in the place of an object storage, which answers request by request as a test wants.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach } from 'vitest';
import { type Bucket, openBucket } from '../../shared/s3/bucket.ts';
import type { S3Settings } from '../../shared/s3/settings.ts';
import type { TransportOptions } from '../../shared/s3/transport.ts';
import { HandClock } from './hand-clock.ts';

export interface S3Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type S3Manner = (response: ServerResponse, asked: S3Asked) => void;

export interface PosingS3 {
  readonly url: string;
  readonly asked: readonly S3Asked[];
  open(settings?: Partial<S3Settings>, options?: TransportOptions): Bucket;
}

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** One manner for each request; the last one for all that follow. */
export async function poseAsS3(...manners: readonly S3Manner[]): Promise<PosingS3> {
  const asked: S3Asked[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url = '', headers } = request;
      const one = { method, path: url, headers, body: await buffer(request) };
      asked.push(one);
      manners[Math.min(asked.length, manners.length) - 1]?.(response, one);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const open: PosingS3['open'] = (settings, options) => {
    const bucket = openBucket('backups', settingsFor(url, settings), {
      clock: new HandClock(),
      ...options,
    });
    ends.push(() => bucket.close());
    return bucket;
  };
  return { url, asked, open };
}

export const settingsFor = (endpoint: string, more: Partial<S3Settings> = {}): S3Settings => ({
  endpoint,
  region: 'us-east-1',
  isPathStyle: true,
  caPath: undefined,
  credentials: {
    given: { accessKeyId: 'key', secretAccessKey: 'secret', sessionToken: undefined },
  },
  encryption: undefined,
  ...more,
});

export const answers =
  (statusCode: number, headers: Record<string, string> = {}, body = ''): S3Manner =>
  (response) =>
    void response.writeHead(statusCode, headers).end(body);

export const refusesS3 = (statusCode: number, code: string, headers = {}): S3Manner =>
  answers(
    statusCode,
    headers,
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>said so</Message></Error>`,
  );

export const breaksOff: S3Manner = (response) => void response.destroy();
