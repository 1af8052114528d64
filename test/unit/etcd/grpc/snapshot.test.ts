// A snapshot over gRPC is whole, or fails: whatever a member, a stranger or the network does.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type EtcdMemberAdmin, openEtcdAdmin } from '../../../../shared/etcd/admin.ts';
import { openGrpcStream } from '../../../../shared/etcd/grpc/stream.ts';
import {
  endsEarly,
  framed,
  type GrpcManner,
  loses,
  poseAsGrpc,
  refusesGrpc,
  sends,
  snapshotMessage,
} from '../../../builders/posing-grpc.ts';

const opened: EtcdMemberAdmin[] = [];
const { signal } = new AbortController();

afterEach(async () => {
  for (const admin of opened.splice(0)) await admin.close();
});

async function snapshotOf(manner: GrpcManner, by = signal): Promise<Buffer> {
  const admin = openEtcdAdmin({ endpoint: await poseAsGrpc(manner) });
  opened.push(admin);
  const pieces: Buffer[] = [];
  for await (const { blob } of await admin.snapshot(by)) pieces.push(Buffer.from(blob));
  return Buffer.concat(pieces);
}

const pieces = [Buffer.alloc(9_000, 'a'), Buffer.alloc(0), Buffer.alloc(12_345, 'b')];
const stream = Buffer.concat(pieces.map((piece) => framed(snapshotMessage(piece, 7))));

test('its pieces are put together, wherever the stream was cut', async () => {
  expect(await snapshotOf(sends(stream))).toEqual(Buffer.concat(pieces));
  const slowly: GrpcManner = (to) => {
    void (async () => {
      to.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      to.on('wantTrailers', () => to.sendTrailers({ 'grpc-status': '0' }));
      for (let at = 0; at < stream.length; at += 1_001) {
        await new Promise((resolve) => to.write(stream.subarray(at, at + 1_001), resolve));
      }
      to.end();
    })();
  };
  expect(await snapshotOf(slowly)).toEqual(Buffer.concat(pieces));
});

describe('it fails', () => {
  test.each<[string, GrpcManner, RegExp]>([
    ['within a message', sends(stream.subarray(0, -1)), /cut off within a message/],
    ['without trailers', endsEarly(stream), /ended without a word/],
    ['with its connection', loses(stream), /./],
    [
      'with a refusal at its end',
      sends(stream, { 'grpc-status': '14', 'grpc-message': 'etcdserver: server%20stopped' }),
      /etcdserver: server stopped/,
    ],
    ['in a message that is compressed', sends(Buffer.of(1, 0, 0, 0, 0)), /compressed/],
    ['in one without end', sends(Buffer.of(0, 255, 0, 0, 0)), /a message of 4278190080 bytes/],
    ['in one that is something else', sends(framed(Buffer.from('GET /'))), /none of a snapshot/],
    ['in one that is longer inside', sends(framed(Buffer.of(0x1a, 9, 1))), /none of a snapshot/],
  ])('when it ends %s', async (_, manner, message) => {
    await expect(snapshotOf(manner)).rejects.toThrow(message);
  });

  test('when it is refused, with a reason and its words', async () => {
    const manner = refusesGrpc(7, 'etcdserver: permission denied');
    await expect(snapshotOf(manner)).rejects.toMatchObject({
      code: 'ETCD_REFUSED',
      reason: 'PERMISSION_DENIED',
      message: expect.stringContaining('etcd refused: etcdserver: permission denied'),
    });
  });

  test('when its end is asked for in the middle', async () => {
    const end = new AbortController();
    const manner: GrpcManner = (to) => {
      to.respond({ ':status': 200, 'content-type': 'application/grpc' });
      to.write(stream.subarray(0, 100), () => end.abort(new Error('ended')));
    };
    await expect(snapshotOf(manner, end.signal)).rejects.toThrow(/abort|ended/i);
  });

  test('when nothing comes any more', async () => {
    const url = await poseAsGrpc((to) => {
      to.respond({ ':status': 200, 'content-type': 'application/grpc' });
      to.write(stream.subarray(0, 100));
    });
    const call = { path: '/x', token: undefined, silenceMs: 50, signal };
    const opening = openGrpcStream(url, await socketTo(url), call);
    await expect(opening).rejects.toThrow('nothing came for 0.05 s');
  });

  test('where nobody speaks gRPC, and then the gateway is asked', async () => {
    const url = await poseAsGrpc((to) => to.respond({ ':status': 404 }, { endStream: true }));
    const call = { path: '/x', token: undefined, silenceMs: 1_000, signal };
    await expect(openGrpcStream(url, await socketTo(url), call)).rejects.toMatchObject({
      name: 'NoGrpc',
      message: 'it answered 404 with ',
    });
  });
});

async function socketTo(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}
