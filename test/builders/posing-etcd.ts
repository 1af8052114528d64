// A server in the place of an etcd member, which answers as a test wants it to: as etcd, as a
// stranger at the address of a pod, or not at all.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach } from 'vitest';

export interface Asked {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly token: string | undefined;
}

export type Manner = (response: ServerResponse, asked: Asked) => void;

export interface PosingEtcd {
  readonly url: string;
  /** All that it was asked, in order. */
  readonly asked: readonly Asked[];
}

const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Ends with the test. */
export async function poseAsEtcd(manner: Manner): Promise<PosingEtcd> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      // A question for its version has none.
      const body = JSON.parse((await text(request)) || '{}') as Asked['body'];
      const one = { path: request.url ?? '', body, token: request.headers.authorization };
      asked.push(one);
      manner(response, one);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export const says =
  (answer: unknown, statusCode = 200): Manner =>
  (response) =>
    void response
      .writeHead(statusCode)
      .end(typeof answer === 'string' ? answer : JSON.stringify(answer));

/** As the gateway hands on an error of gRPC. */
export const refuses = (message: string, code = 9, statusCode = 400): Manner =>
  says({ code, message, details: [] }, statusCode);

export const hangs: Manner = () => undefined;

export const breaksOff: Manner = (response) => {
  response.writeHead(200).write('{"header":', () => response.destroy());
};

/** Sends the piece again and again until nobody reads any more, and tells how many bytes it was. */
export const floods =
  (piece: string, onEnd: (sentBytes: number) => void): Manner =>
  (response) => {
    let sentBytes = 0;
    const more = (): void => {
      for (let isFull = false; !isFull && !response.destroyed; sentBytes += piece.length) {
        isFull = !response.write(piece);
      }
    };
    response
      .writeHead(200)
      .on('drain', more)
      .once('close', () => onEnd(sentBytes));
    more();
  };
