// A reader takes nothing else for an answer, whatever the server, or somebody in its place, sends.
// Real TCP against a server that says whatever a test wants.
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { systemClock } from '../../../shared/clock.ts';
import { type LiveMessage, Source } from '../../../shared/nats/replica/source.ts';
import type { StoredMessage } from '../../../shared/nats/replica/page.ts';
import { type NatsRequest, type Manners, startHostileNats } from '../../builders/hostile-nats.ts';
import { MovedClock } from '../../builders/moved-clock.ts';

const soon = (): AbortSignal => AbortSignal.timeout(8_000);
const nobody = {
  onMessage: () => undefined,
  onForeign: () => undefined,
  onLost: () => undefined,
};

async function reading(
  onRequest: NonNullable<Manners['onRequest']>,
  take: (message: StoredMessage) => void = () => expect.unreachable('it was taken'),
  clock = systemClock,
): Promise<unknown> {
  await using hostile = await startHostileNats({ onRequest });
  const url = `nats://${hostile.address}`;
  const source = new Source({ url, feed: 'f', filters: ['>'], name: 'test', clock }, nobody);
  try {
    await source.open(soon());
    const reader = await source.read('>', undefined, soon());
    return await reader.next(take);
  } finally {
    await source.close();
  }
}

/** The name in the subject of a create. */
const nameIn = (command: string): string => command.split('.')[4] ?? '';

test.each<[string, (name: string) => object]>([
  ['no name', () => ({ num_pending: 0 })],
  ['the name of another', () => ({ name: 'other', num_pending: 0 })],
  ['no name, and messages', () => ({ num_pending: 1 })],
  ['its name, and not how much there is', (name) => ({ name })],
  ['its name, and nonsense', (name) => ({ name, num_pending: null })],
  ['its name, and less than nothing', (name) => ({ name, num_pending: -1 })],
])('an answer to a create with %s is not taken for an empty feed', async (_what, answerTo) => {
  const read = reading(({ command, answer }) => answer(JSON.stringify(answerTo(nameIn(command)))));
  await expect(read).rejects.toThrow('is of no consumer of this reader');
});

test('a message on the way of a page that says no sequence is not taken', async () => {
  const read = reading(({ command, answer }) => {
    const isCreate = command.includes('.CONSUMER.CREATE.');
    answer(isCreate ? JSON.stringify({ name: nameIn(command), num_pending: 1 }) : '{}');
  });
  await expect(read).rejects.toThrow('a message came that is of no page');
});

test('a page on a slow line is taken as long as some of it comes, and no longer', async () => {
  const clock = new MovedClock();
  let request: NatsRequest | undefined;
  const received: string[] = [];
  const onRequest = (question: NatsRequest): void => {
    const { command, answer } = question;
    if (command.includes('.CONSUMER.CREATE.')) {
      answer(JSON.stringify({ name: nameIn(command), num_pending: 9 }));
    } else request = question;
  };
  const take = ({ data }: StoredMessage): void => void received.push(Buffer.from(data).toString());
  const read = reading(onRequest, take, clock);
  read.catch(() => undefined);
  await expect.poll(() => request).toBeDefined();
  for (const part of ['one', 'two', 'three']) {
    request?.answer(part, `$JS.ACK.ballast-f.c.1.${received.length + 1}.1.1.5`);
    await expect.poll(() => received).toContain(part);
    await clock.advance(4_000);
  }
  await clock.advance(1_000);
  await expect(read).rejects.toThrow('nothing came for 5 s');
});

const RIGHT = {
  'Nats-Stream': 'ballast-f',
  'Nats-Subject': 'ballast.f.node.pods',
  'Nats-Sequence': '7',
  'Nats-Last-Sequence': '5',
};
type Headers = Partial<Record<keyof typeof RIGHT, string>>;

/** The reader's reaction to a message on a live subject with these headers. */
async function hearing(headers: Headers): Promise<readonly string[]> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `NATS/1.0\r\n${lines.join('')}\r\n`;
  const sizes = `${head.length} ${head.length + 2}`;
  let pings = 0;
  const admit = (socket: Socket): void => {
    pings += 1;
    // The second is the one after the subscription.
    if (pings === 2) socket.write(`HMSG ballast-live.f.node.pods 1 ${sizes}\r\n${head}{}\r\n`);
    socket.write('PONG\r\n');
  };
  await using hostile = await startHostileNats({ admit });
  const heard: string[] = [];
  const events = {
    onMessage: (message: LiveMessage) =>
      void heard.push(`${message.subject} ${message.sequence} after ${message.lastSequence}`),
    onForeign: () => void heard.push('foreign'),
    onLost: () => undefined,
  };
  const url = `nats://${hostile.address}`;
  const options = { url, feed: 'f', filters: ['>'], name: 'test', clock: systemClock };
  const source = new Source(options, events);
  try {
    await source.open(soon());
    return heard;
  } finally {
    await source.close();
  }
}

test.each<[string, Headers, string]>([
  ['all that the server says', RIGHT, 'node.pods 7 after 5'],
  ['no sequence', { ...RIGHT, 'Nats-Sequence': '' }, 'foreign'],
  ['a sequence that is no number', { ...RIGHT, 'Nats-Sequence': '7e3' }, 'foreign'],
  ['no sequence before, as an answer has', { ...RIGHT, 'Nats-Last-Sequence': '' }, 'foreign'],
  ['another subject', { ...RIGHT, 'Nats-Subject': 'ballast.f.node.nodes' }, 'foreign'],
  ['another stream', { ...RIGHT, 'Nats-Stream': 'ballast-g' }, 'foreign'],
  ['nothing', {}, 'foreign'],
])('a live message with %s is what it is taken for', async (_what, headers, received) => {
  expect(await hearing(headers)).toEqual([received]);
});
