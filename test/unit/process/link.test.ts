// A link carries bytes both ways, holds them while it is cut, and loses none when it heals.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Link, openLink } from '../../../knative/try/local/process/link.ts';

let echo: Server;
let link: Link;
let client: Socket;

beforeEach(async () => {
  echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  link = await openLink((echo.address() as AddressInfo).port);
  client = connect(link.port, '127.0.0.1').setEncoding('utf8');
  await once(client, 'connect');
});

afterEach(async () => {
  client.destroy();
  await link.close();
  echo.close();
});

const answerTo = async (text: string): Promise<string> => {
  client.write(text);
  const [answer] = await once(client, 'data');
  return String(answer);
};

test('bytes pass both ways', async () => {
  expect(await answerTo('ping')).toBe('ping');
});

test('a cut link is silent, and what was sent meanwhile arrives when it heals', async () => {
  expect(await answerTo('before')).toBe('before');
  link.cut();
  let heard = '';
  client.on('data', (text: string) => {
    heard += text;
  });
  client.write('while cut');
  // A second connection proves that time passed for the first one: it is accepted, and as silent.
  const other = connect(link.port, '127.0.0.1');
  await once(other, 'connect');
  expect(heard).toBe('');
  link.heal();
  await expect.poll(() => heard).toBe('while cut');
  other.destroy();
});

test('a reset ends what is open and lets new connections through', async () => {
  expect(await answerTo('before')).toBe('before');
  const reset = new Promise((resolve) => client.once('error', resolve));
  link.reset();
  expect(String(await reset)).toContain('ECONNRESET');
  client = connect(link.port, '127.0.0.1').setEncoding('utf8');
  expect(await answerTo('after')).toBe('after');
});

test('a link that was not cut passes each byte once when it is healed', async () => {
  expect(await answerTo('before')).toBe('before');
  link.heal();
  let heard = '';
  client.on('data', (text: string) => {
    heard += text;
  });
  client.end('once');
  await once(client, 'end');
  expect(heard).toBe('once');
});
