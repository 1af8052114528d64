// A relay hands bytes on in both directions, ends a side with the other, and keeps nobody alive.
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { relay } from '../../../knative/try/local/process/relay.ts';

const LOOPBACK = '127.0.0.1';

test('through a port and a socket file a client reaches a server, and sees its end', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'ballast-relay-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const echo = createServer((socket) => socket.once('data', (data) => socket.end(data)));
  await new Promise<void>((resolve) => echo.listen(0, LOOPBACK, resolve));
  onTestFinished(() => void echo.close());
  const address = echo.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const path = join(dir, 'inner.sock');
  await relay({ path }, { host: LOOPBACK, port });
  const outer = await relay({ host: LOOPBACK, port: 0 }, { path });
  const client = connect(outer.port ?? 0, LOOPBACK);
  client.write('there and back');
  expect(await text(client)).toBe('there and back');
});

test('a client of a server that is not there is let go', async () => {
  const { port } = await relay({ host: LOOPBACK, port: 0 }, { path: '/nowhere.sock' });
  const client = connect(port ?? 0, LOOPBACK);
  await new Promise((resolve) => client.on('error', resolve).on('close', resolve).resume());
  expect(client.destroyed).toBe(true);
});
