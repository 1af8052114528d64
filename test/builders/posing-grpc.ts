// A server in the place of an etcd member over gRPC, which sends of its snapshot what a test wants.
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

export type GrpcManner = (stream: ServerHttp2Stream, token: string | undefined) => void;

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Its URL; ends with the test. */
export async function poseAsGrpc(manner: GrpcManner): Promise<string> {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, { token }) => {
    stream.on('error', () => undefined);
    manner(stream, token === undefined ? undefined : String(token));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const GRPC = { ':status': 200, 'content-type': 'application/grpc' };

/** A message of gRPC. */
export function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** etcd's SnapshotResponse, for less than 16 KiB: its header, what is left, a piece. */
export function snapshotMessage(blob: Buffer, leftBytes = 0): Buffer {
  const header = [0x0a, 2, 0x08, 1];
  const length = [(blob.length & 0x7f) | 0x80, blob.length >> 7];
  return Buffer.concat([Buffer.from([...header, 0x10, leftBytes, 0x1a, ...length]), blob]);
}

/** All at once, and then the trailers. */
export const sends =
  (bytes: Buffer, trailers: Record<string, string> = { 'grpc-status': '0' }): GrpcManner =>
  (stream) => {
    stream.respond(GRPC, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.end(bytes);
  };

/** As something before a member would that knows of no trailers. */
export const endsEarly =
  (bytes: Buffer): GrpcManner =>
  (stream) => {
    stream.respond(GRPC);
    stream.end(bytes);
  };

/** The connection is lost behind so many bytes. */
export const loses =
  (bytes: Buffer): GrpcManner =>
  (stream) => {
    stream.respond(GRPC);
    stream.write(bytes, () => stream.session?.destroy());
  };

/** As etcd does before there is anything: headers that are trailers. */
export const refusesGrpc =
  (code: number, message: string): GrpcManner =>
  (stream) =>
    stream.respond(
      { ...GRPC, 'grpc-status': `${code}`, 'grpc-message': message },
      { endStream: true },
    );
