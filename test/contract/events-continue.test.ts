// `Expect: 100-continue`: whoever asks before he sends a body is told to go on just when the body
// is going to be read, whatever its size may be there; else he is told why not, and sends nothing.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BODY_BYTES_MAX } from '../../shared/function/body.ts';
import { RawConnection, head, sendRaw } from './raw-http.ts';
import { type Started, eventHeaders, started } from './started.ts';

const FILE_BYTES_MAX = 64 * 2 ** 20;
const MEGABYTE = 2 ** 20;

let server: Started;

beforeAll(async () => {
  server = await started({
    routes: [
      {
        method: 'POST',
        path: '/file',
        summary: 'says how large a file is',
        takesFile: { sizeBytesMax: FILE_BYTES_MAX, advice: 'send less' },
        handle: async ({ file }) => ({ body: { bytes: file?.length } }),
      },
    ],
  });
});
afterAll(() => server.stop());

const asking = (length: number, type = 'application/octet-stream', start = 'POST /file HTTP/1.1') =>
  head(
    [
      ['content-type', type],
      ['content-length', String(length)],
      ['expect', '100-continue'],
    ],
    start,
  );

const eventAsking = (length: number): string =>
  head([
    ...Object.entries(eventHeaders),
    ['content-length', String(length)],
    ['expect', '100-continue'],
  ]);

it.each([
  ['a file of a byte', 1],
  ['a file larger than an event may be', 3 * MEGABYTE],
  ['a file as large as may be', FILE_BYTES_MAX],
])('%s is asked for, and answered once it is there', async (_, length) => {
  const connection = await RawConnection.open(server.port, asking(length));
  await expect.poll(() => connection.text).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  connection.socket.write(Buffer.alloc(length));
  await expect.poll(() => connection.text).toMatch(/^HTTP\/1\.1 100 .*HTTP\/1\.1 200 OK.*\}\s*$/s);
  expect(connection.text).toContain(`{"bytes":${length}}`);
  connection.socket.destroy();
});

it('an event is asked for, and its connection is good for the next one', async () => {
  const connection = await RawConnection.open(server.port, eventAsking(2));
  await expect.poll(() => connection.text).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  connection.socket.write('{}');
  await expect.poll(() => connection.statuses).toEqual([204]);
  connection.socket.write(`${head([...Object.entries(eventHeaders), ['content-length', '2']])}{}`);
  await expect.poll(() => connection.statuses).toEqual([204, 204]);
  expect(connection.text.match(/100 Continue/g)).toHaveLength(1);
  connection.socket.destroy();
});

it('pieces of no announced length are asked for, and refused when they are too many', async () => {
  const lines = [...Object.entries(eventHeaders), ['transfer-encoding', 'chunked']] as const;
  const connection = await RawConnection.open(
    server.port,
    head([...lines, ['expect', '100-continue']]),
  );
  await expect.poll(() => connection.text).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  const piece = [Buffer.from('100000\r\n'), Buffer.alloc(MEGABYTE, ' '), Buffer.from('\r\n')];
  for (const part of [piece, piece, piece].flat()) connection.socket.write(part);
  await expect.poll(() => connection.codes).toEqual(['BODY_TOO_LARGE']);
  connection.socket.destroy();
});

it.each([
  ['an event that is too large', eventAsking(BODY_BYTES_MAX + 1), 413, 'BODY_TOO_LARGE'],
  ['a file that is too large', asking(FILE_BYTES_MAX + 1), 413, 'BODY_TOO_LARGE'],
  [
    'a body where nothing answers',
    asking(3 * MEGABYTE, 'application/octet-stream', 'POST /nowhere HTTP/1.1'),
    404,
    'PATH_UNKNOWN',
  ],
])(
  '%s is refused before a byte of it is sent, and not asked for',
  async (_, text, status, code) => {
    const connection = await RawConnection.open(server.port, text);
    await connection.closed;
    expect([connection.statuses, connection.codes]).toEqual([[status], [code]]);
    expect(connection.text).toMatch(/^HTTP\/1\.1 4/);
  },
);

it('a question with nothing to send is answered, and not told to go on', async () => {
  const { status } = await sendRaw(server.port, asking(0));
  expect(status).not.toBe(100);
});
