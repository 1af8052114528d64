// Questions and files: what floods functions that wake on no event.
import { systemClock } from '../../../shared/clock.ts';
import type { Flood } from './http-floods.ts';
import { TENANT } from './own-floods.ts';
import { Sockets } from './traffic.ts';

const HOLD_MS = 5_000;

const question = (path: string): Buffer => Buffer.from(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);

/** A caller that asks and does not read, so that answers wait for it. */
const unread = (name: string, count: number, path: string, times = 1): Flood => ({
  name,
  run: async ({ port }) => {
    const sockets = new Sockets();
    try {
      const opened = await sockets.open(port, count, false);
      const bytes = Buffer.concat(Array.from({ length: times }, () => question(path)));
      for (const socket of opened) socket.pause().write(bytes);
      await systemClock.sleep(HOLD_MS * 3);
    } finally {
      sockets.close();
    }
    return count * times;
  },
});

const ASKED = [
  '/nodes?namespace=others',
  '/nodes?selector=app%20in%20(app-1,app-2)',
  '/complete?prefix=p&limit=100',
  '/pod?ip=10.1.1.1',
  '/who?ip=10.1.1.1',
  '/feed',
];

export const locateFloods = (): readonly Flood[] => [
  {
    name: '3,000 questions, 100 at once',
    run: async (_victim, crowd) => {
      await crowd.send(3_000, (index) => ({
        method: 'GET',
        path: ASKED[index % ASKED.length] ?? '/feed',
      }));
      return 3_000;
    },
  },
  unread('400 answers of 1 MB that nobody reads', 400, '/nodes?namespace=others'),
  unread(
    '1,000 questions on each of 20 connections, unread',
    20,
    '/complete?prefix=p&limit=100',
    1_000,
  ),
  {
    name: '500 batches of 500,000 names',
    run: async (_victim, crowd) => {
      const body = JSON.stringify({ uids: Array.from({ length: 500_000 }, () => 'a') });
      const headers = { 'content-type': 'application/json' };
      await crowd.send(500, () => ({ path: '/hydrate', headers, body }));
      return 500;
    },
  },
  {
    name: '300 batches of a pod with 7,000 labels, a thousand times',
    run: async (_victim, crowd) => {
      const body = JSON.stringify({
        names: Array.from({ length: 1_000 }, () => `${TENANT}/huge-0`),
      });
      const headers = { 'content-type': 'application/json' };
      await crowd.send(300, () => ({ path: '/hydrate', headers, body }));
      return 300;
    },
  },
];

const FILE = { 'content-type': 'application/octet-stream' };
const FILE_BYTES = 64 * 1024 * 1024;

export const auditFloods = (snapshot: Buffer): readonly Flood[] => {
  const files = (name: string, count: number, body: Buffer): Flood => ({
    name,
    run: async (_victim, crowd) => {
      await crowd.send(count, () => ({ path: '/audit', headers: FILE, body }));
      return count;
    },
  });
  const grown = Buffer.alloc(FILE_BYTES);
  snapshot.copy(grown);
  return [
    files('40 snapshots', 40, snapshot),
    files('20 files of 64 MiB of nothing', 20, Buffer.alloc(FILE_BYTES)),
    files('20 snapshots that end in 60 MiB of nothing', 20, grown),
    {
      name: '30 uploads of 60 MiB that never end',
      run: async ({ port }) => {
        const sockets = new Sockets();
        try {
          const type = FILE['content-type'];
          const head = `POST /audit HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\n`;
          const opened = await sockets.open(port, 30, true);
          for (const socket of opened) {
            socket.write(`${head}content-length: ${FILE_BYTES}\r\n\r\n`);
            socket.write(Buffer.alloc(60 * 1024 * 1024));
          }
          await systemClock.sleep(HOLD_MS * 3);
        } finally {
          sockets.close();
        }
        return 30;
      },
    },
  ];
};
