// Ports of parts: nobody else gets them, before the part listens neither.
import { readFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePort, isPortTaken } from '../../../knative/try/local/process/ports.ts';

const MANY = 300;

test('a connection that goes out cannot take the port of a part that has not started', async () => {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const [first = 0] = range.split(/\s+/).map(Number);
  for (let index = 0; index < MANY; index += 1) expect(await freePort()).toBeLessThan(first);
});

test('no port is given twice, though none of them is used yet', async () => {
  const ports = await Promise.all(Array.from({ length: MANY }, freePort));
  expect(new Set(ports).size).toBe(MANY);
});

test('a port that somebody listens on is taken', async () => {
  const port = await freePort();
  expect(await isPortTaken(port)).toBe(false);
  const server = await listenOn(port);
  expect(await isPortTaken(port)).toBe(true);
  await new Promise((resolve) => server.close(resolve));
});

async function listenOn(port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}
