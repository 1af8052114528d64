// Free TCP ports on loopback, from below those that the kernel gives to outgoing connections: of
// these, any client of the machine may take one between the question and the part's start.
import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';

const FIRST_PORT = 20_000;
/** Where Linux begins by default. */
const EPHEMERAL_FIRST = 32_768;
/** Fewer are no choice: where clients may use almost all ports, parts have to take their chance. */
const CHOICE_MIN = 1_000;
const TRIES_MAX = 100;

/** One port is for one part, also before that listens. */
const given = new Set<number>();

export async function freePort(): Promise<number> {
  const end = Math.max(await ephemeralFirst(), FIRST_PORT + CHOICE_MIN);
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = randomInt(FIRST_PORT, end);
    if (given.has(port)) continue;
    given.add(port);
    if (!(await isPortTaken(port))) return port;
  }
  const range = `${FIRST_PORT} to ${end - 1}`;
  throw new Error(`${TRIES_MAX} ports of ${range} were tried, and all are taken`);
}

/** True when something already listens on this loopback port. */
export async function isPortTaken(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(true));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(false)));
  });
}

/** The lowest port from which connections may go out. */
async function ephemeralFirst(): Promise<number> {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '');
  return Number.parseInt(range, 10) || EPHEMERAL_FIRST;
}
