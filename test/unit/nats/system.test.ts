// A server of a NatsCluster may answer anything, at no cost to others. Real TCP against a server
// that floods, lies and says null where there should be an object.
import type { Socket } from 'node:net';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { natsStateOf } from '../../../functions/nats-cluster/nats-state.ts';
import { Allowance } from '../../../shared/nats/allowance.ts';
import { BoundedConnection } from '../../../shared/nats/bounded-connection.ts';
import { openSystem, type System } from '../../../shared/nats/system.ts';
import {
  type NatsRequest,
  flood,
  type Manners,
  startHostileNats,
} from '../../builders/hostile-nats.ts';

const soon = () => AbortSignal.timeout(8_000);
const login = { user: 'ballast-system', passwords: ['one'], name: 'test' };
const ME = { name: 'nats-0', id: 'ID', ver: '2.15.2' };

async function against<Result>(
  manners: Manners,
  work: (system: System) => Promise<Result>,
): Promise<Result> {
  await using hostile = await startHostileNats(manners);
  const system = await openSystem({ ...login, servers: [hostile.address] }, soon());
  try {
    return await work(system);
  } finally {
    await system.close();
  }
}

const answering = (json: unknown): Manners => ({
  onRequest: ({ answer }) => answer(typeof json === 'string' ? json : JSON.stringify(json)),
});
const deep = (value: unknown) => ({ server: ME, data: value });
const accounts = (value: unknown) => deep({ account_details: value });
const streams = (value: unknown) => accounts([{ name: 'A', stream_detail: value }]);

const SHAPES: readonly unknown[] = [
  'null',
  '[]',
  'not JSON',
  '"text"',
  {},
  { server: null, data: {} },
  { server: { ...ME, name: null }, data: {} },
  { server: { ...ME, name: 'x'.repeat(100_000) }, data: {} },
  { server: { ...ME, name: 'a\r\nPUB b 0\r\n' }, data: {} },
  deep(null),
  deep([]),
  accounts({}),
  accounts([null]),
  accounts('many'),
  streams([null]),
  streams([{ name: null }]),
  streams([{ name: 'S', cluster: [] }]),
  streams([{ name: 'S', cluster: { replicas: [null] } }]),
  streams([{ name: 'S', consumer_detail: [{ name: 'C', config: 1 }] }]),
  deep({ meta_cluster: 'me' }),
  deep({ meta_cluster: { leader: 'nats-0', replicas: Array.from({ length: 99 }, () => ME) } }),
];

test.each(['jetStream', 'servers', 'health'] as const)(
  'answers to %s with null, lists and texts in the place of objects are none, and hurt nobody',
  async (command) => {
    const onRequest = ({ answer }: NatsRequest): void => {
      for (const shape of SHAPES) answer(typeof shape === 'string' ? shape : JSON.stringify(shape));
      answer(JSON.stringify({ server: { ...ME, name: 'good' }, data: { status: 'ok' } }));
    };
    await against({ onRequest }, async (system) => {
      const told = await system[command](['good']);
      expect(told.at(-1)?.server.name).toBe('good');
      expect(system.unread[0]).toContain('is not what a NATS server says');
      natsStateOf(
        await system.servers(['good']),
        await system.jetStream(['good']),
        await system.health(['good']),
      );
    });
  },
);

test.each<[string, Manners]>([
  ['greets without end', { greet: (socket) => flood(socket) }],
  ['greets with null', { greet: (socket) => socket.end('INFO null\r\n') }],
  ['never greets', { greet: () => undefined }],
  ['lets nobody in without end', { admit: (socket) => flood(socket) }],
])('a server that %s is given up, and told as out of reach', async (_, manners) => {
  const failed = against(manners, (system) => system.servers(['nats-0']));
  await expect(failed).rejects.toMatchObject({ code: 'NATS_UNAVAILABLE' });
});

test('nine servers that say nothing cost a look seconds, and not all of its time', async () => {
  await using silent = await startHostileNats({ greet: () => undefined });
  const servers = Array.from({ length: 9 }, () => silent.address);
  const failed = openSystem({ ...login, servers }, soon());
  await expect(failed).rejects.toMatchObject({ code: 'NATS_UNAVAILABLE' });
});

test('who lets us in is found among eight that say nothing, and alone is kept', async () => {
  let here = 0;
  const greet = (socket: Socket): void => {
    here += 1;
    socket.on('close', () => (here -= 1));
    socket.resume();
  };
  await using silent = await startHostileNats({ greet });
  await using good = await startHostileNats(answering({ server: ME, data: {} }));
  const servers = [...Array.from({ length: 8 }, () => silent.address), good.address];
  const system = await openSystem({ ...login, servers }, soon());
  expect(await system.servers(['nats-0'])).toHaveLength(1);
  await expect.poll(() => here).toBe(0);
  await system.close();
});

const FLOODS: readonly (readonly [string, (request: NatsRequest) => void])[] = [
  [
    'a message of a terabyte',
    ({ announce, socket }) => {
      announce(999_999_999_999);
      flood(socket);
    },
  ],
  [
    'messages without end',
    ({ answer, socket }) => {
      const { server } = deep({});
      const one = JSON.stringify({ server, data: { account_details: [] } });
      answer('{}');
      flood(socket, Buffer.from(`MSG _INBOX.x 1 ${one.length}\r\n${one}\r\n`.repeat(1_000)));
    },
  ],
  ['a line without end', ({ socket }) => flood(socket)],
  ['a negative size', ({ socket }) => void socket.write('MSG a 1 -5\r\n')],
];

test.each(FLOODS)('%s ends the connection and nothing else', async (_, onRequest) => {
  const failed = against({ onRequest }, (system) => system.jetStream(['nats-0', 'nats-1']));
  const outcome = await failed.then(
    (answers) => answers.length,
    (error: unknown) => (error as { code?: string }).code,
  );
  expect([0, 1, 'NATS_UNAVAILABLE']).toContain(outcome);
});

test('whoever asks for answers without end is given up, and gets a few', async () => {
  const onRequest = ({ socket }: NatsRequest): void => {
    // It reads none of them.
    socket.pause();
    flood(socket, Buffer.from('PING\r\n'.repeat(10_000)));
  };
  const failed = against({ onRequest }, (system) => system.jetStream(['nats-0']));
  await expect(failed).rejects.toThrow('it sends without end');
});

test('an answer that is too large is left out, and the next one is read', async () => {
  const large = JSON.stringify(accounts([{ name: 'x'.repeat(9 << 20) }]));
  const onRequest = ({ answer }: NatsRequest): void => {
    answer(large);
    answer(JSON.stringify({ server: { ...ME, name: 'nats-1' }, data: {} }));
    // As one of millions of pieces.
    answer(`[${'{},'.repeat(1 << 20)}0]`);
    answer(JSON.stringify({ server: ME, data: {} }));
  };
  await against({ onRequest }, async (system) => {
    const told = await system.jetStream(['nats-0', 'nats-1']);
    expect(told.map(({ server }) => server.name)).toEqual(['nats-1', 'nats-0']);
    expect(system.unread).toEqual(['an answer to JSZ is larger than what is read of one']);
  });
});

test('who answers again and again for everybody is heard once, and not without end', async () => {
  const onRequest = ({ answer }: NatsRequest): void => {
    for (let index = 0; index < 1_000; index += 1) {
      answer(JSON.stringify({ server: { ...ME, name: `nats-${index % 50}` }, data: {} }));
    }
  };
  await against({ onRequest }, async (system) => {
    expect((await system.servers(['nats-0', 'nobody'])).length).toBe(32);
  });
});

test('who refuses the password is told apart from who is away', async () => {
  await using refusing = await startHostileNats({
    admit: (socket) => socket.write("-ERR 'Authorization Violation'\r\n"),
  });
  const failed = openSystem({ ...login, servers: [refusing.address, '127.0.0.1:1'] }, soon());
  await expect(failed).rejects.toMatchObject({ code: 'NATS_REFUSED' });
});

test('a change that is answered with nonsense is not done', async () => {
  for (const json of ['null', '[]', 'x', '{"error":null}', '{"error":7}']) {
    const done = await against(answering(json), (one) => one.removePeer('p', soon()));
    expect([json, done.isDone]).toEqual([json, json === '{"error":null}']);
  }
});

/** With half the heap of the function, so that less is enough to end it when nothing is bounded. */
async function flooded(...args: readonly string[]): Promise<Record<string, number>> {
  const program = new URL('../../builders/flooded.ts', import.meta.url).pathname;
  const run = promisify(execFile);
  const options = ['--max-semi-space-size=4', '--max-old-space-size=64', program, ...args];
  const { stdout } = await run(process.execPath, options, { timeout: 90_000 });
  return JSON.parse(stdout) as Record<string, number>;
}

/** A part of the 256 MB of the function's pod. */
const PEAK_MB = 220;

test('memory stays flat while twelve servers flood, and another one is served', async () => {
  const { during, after, peakMb } = await flooded('12');
  expect([during, after]).toEqual([1, 1]);
  expect(peakMb).toBeLessThan(PEAK_MB);
}, 90_000);

test('six servers that tell of streams of a few bytes each end no process', async () => {
  expect((await flooded('6', '4'))['peakMb']).toBeLessThan(PEAK_MB);
}, 90_000);

test('whoever is given up in the middle of a flood holds nothing of what all share', async () => {
  const small = `MSG a 1 9\r\n${'x'.repeat(9)}\r\n`;
  await using hostile = await startHostileNats({
    onRequest: ({ socket }) =>
      void socket.write(`MSG a 1 900\r\n${'x'.repeat(900)}\r\n${small.repeat(900)}`),
  });
  const allowance = new Allowance(850);
  const { user, name } = login;
  const one = await BoundedConnection.open(
    hostile.address,
    { user, name, password: 'one' },
    allowance,
    soon(),
  );
  const request = one.ask({ subject: 'a', body: {}, withinMs: 5_000 }, soon(), () => true);
  await expect(request).rejects.toThrow('more than there is room for');
  let isEvicted = false;
  const other = { evict: () => void (isEvicted = true) };
  allowance.hold(other, 850);
  expect(isEvicted).toBe(false);
});
