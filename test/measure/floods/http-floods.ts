// Floods that anybody who reaches a function can send, whatever it wakes on.
import type { Socket } from 'node:net';
import { systemClock } from '../../../shared/clock.ts';
import type { Victim } from './shipped.ts';
import {
  type FloodRequest,
  type Crowd,
  STRUCTURED,
  Sockets,
  eventHeaders,
  pour,
} from './traffic.ts';

export interface Flood {
  readonly name: string;
  /** Answers how many requests it was. */
  readonly run: (victim: Victim, crowd: Crowd) => Promise<number>;
}

export type EventOf = (index: number) => {
  readonly type: string;
  readonly data: unknown;
  readonly attributes?: Readonly<Record<string, string>>;
};

const MEGABYTE = 1_000_000;
const JUST_FITTING = 2 * 1024 * 1024 - 2_048;
const HOLD_MS = 5_000;

function requestOf(
  eventOf: EventOf,
  index: number,
  more: Readonly<Record<string, string>> = {},
): FloodRequest {
  const { type, data, attributes = {} } = eventOf(index);
  const headers = eventHeaders({ 'ce-type': type, ...attributes, ...more });
  return { headers, body: JSON.stringify(data) };
}

const simple = (name: string, count: number, make: (index: number) => FloodRequest): Flood => ({
  name,
  run: async (_victim, crowd) => {
    await crowd.send(count, make);
    return count;
  },
});

const structured = (fields: object): FloodRequest => {
  const required = { specversion: '1.0', id: 'a', source: 'floods', type: 'x', ...fields };
  return { headers: STRUCTURED, body: JSON.stringify(required) };
};

/** Texts that no two events share. */
const another = (index: number, length: number): string => `${index}-`.padEnd(length, `${index}x`);

export const validEvents = (eventOf: EventOf, count: number): Flood =>
  simple(`${count.toLocaleString('en')} valid events`, count, (index) => requestOf(eventOf, index));

function ofText(eventOf: EventOf): readonly Flood[] {
  const { type } = eventOf(0);
  const body = (text: string): FloodRequest => ({ ...requestOf(eventOf, 0), body: text });
  return [
    simple('media types of 2 MB, each another', 300, (index) =>
      structured({ type, datacontenttype: `application/json;a=${another(index, 2 * MEGABYTE)}` }),
    ),
    simple('ids, sources, subjects of 4 KB, each another', 6_000, (index) =>
      structured({
        type,
        id: another(index, 4_000),
        source: another(index, 4_000),
        subject: another(index, 4_000),
        ...eventOf(index).attributes,
      }),
    ),
    simple('headers of 15 KB, each another', 6_000, (index) =>
      requestOf(eventOf, index, {
        'ce-id': another(index, 3_700),
        'ce-a': another(index, 3_700),
        [`ce-b${index}`]: another(index, 3_700),
        'ce-subject': another(index, 3_700),
      }),
    ),
    simple('types of 4 KB and of 2 MB, each another', 600, (index) =>
      structured({ type: another(index, index % 2 === 0 ? 4_000 : 2 * MEGABYTE) }),
    ),
    simple('names of attributes of 2 MB', 100, (index) =>
      structured({ type, [another(index, 2 * MEGABYTE).replaceAll('-', '')]: 'x' }),
    ),
    simple('data in base64, 2 MB', 300, (index) =>
      structured({ type, data_base64: 'A'.repeat(JUST_FITTING - 500), id: `${index}` }),
    ),
    simple('bodies of 2 MB of one text', 400, () => body(`"${'x'.repeat(JUST_FITTING)}"`)),
    simple('bodies of 2 MB of escapes', 400, () =>
      body(`"${String.raw`\u0100`.repeat(JUST_FITTING / 6)}"`),
    ),
    simple('bodies of 250,000 empty objects', 400, () => body(`[${'{},'.repeat(249_000)}0]`)),
    simple('bodies of 250,000 names', 400, () =>
      body(`{${Array.from({ length: 200_000 }, (_, at) => `"${at}":0`).join()}}`),
    ),
    simple('bodies of 1,000 levels', 2_000, () => body(`${'['.repeat(999)}${']'.repeat(999)}`)),
    simple('bodies that are no UTF-8', 2_000, (index) => ({
      ...requestOf(eventOf, index),
      body: Buffer.alloc(100_000, 0xff),
    })),
  ];
}

/** The sender decides what follows the head. */
const headOf = (eventOf: EventOf, ...lines: readonly string[]): string => {
  const { headers = {} } = requestOf(eventOf, 0);
  const all = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return ['POST / HTTP/1.1', 'host: a', ...all, ...lines, '', ''].join('\r\n');
};

function onSockets(
  name: string,
  count: number,
  use: (socket: Socket) => unknown,
  isReading = true,
): Flood {
  return {
    name,
    run: async ({ port }) => {
      const sockets = new Sockets();
      try {
        const opened = await sockets.open(port, count, isReading);
        await Promise.all(opened.map(async (socket) => use(socket)));
        await systemClock.sleep(HOLD_MS);
      } finally {
        sockets.close();
      }
      return count;
    },
  };
}

/** Six bytes on the wire for each that arrives, and a piece of its own in the process. */
const ONE_BYTE = Buffer.from('1\r\n \r\n'.repeat(100_000));

function ofConnections(eventOf: EventOf): readonly Flood[] {
  const half = Buffer.from(`${headOf(eventOf, 'content-length: 2000000')}${' '.repeat(60_000)}`);
  const inPieces = Buffer.from(headOf(eventOf, 'transfer-encoding: chunked'));
  const metrics = Buffer.from('GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(5_000));
  const nothing = Buffer.from(headOf(eventOf, 'content-length: 0').repeat(300));
  return [
    onSockets('1,000 half-sent bodies of 60 KB', 1_000, (socket) => void socket.write(half)),
    onSockets('bodies of 2 MB in pieces of a byte', 50, async (socket) => {
      socket.write(inPieces);
      await pour(socket, ONE_BYTE, 19);
    }),
    onSockets('2,000 connections that say nothing', 2_000, () => undefined),
    onSockets(
      'heads that never end',
      500,
      (socket) => void socket.write(`GET / HTTP/1.1\r\na: ${'x'.repeat(15_000)}`),
    ),
    onSockets(
      '5,000 questions in one go, unread',
      50,
      (socket) => void socket.write(metrics),
      false,
    ),
    onSockets('300 events in one go, unread', 50, (socket) => void socket.write(nothing), false),
  ];
}

export const httpFloods = (eventOf: EventOf): readonly Flood[] => [
  ...ofText(eventOf),
  ...ofConnections(eventOf),
];
