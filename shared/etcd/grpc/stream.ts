// One call to a member over gRPC whose answer is a stream of messages: what etcd's own tools do.
// A message is good until the next one is asked for, and the stream is whole when it ends without
// an error. A stranger may listen there.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { GrpcRefusal, NoGrpc } from './errors.ts';
import { messagesIn } from './messages.ts';

export interface GrpcCall {
  /** As `/etcdserverpb.Maintenance/Snapshot`; it is asked with an empty message. */
  readonly path: string;
  readonly token: string | undefined;
  /** How long an answer may take to begin, or to go on. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/** A server of HTTP/2 says so before anything else. */
const HELLO_MS = 5_000;
/** So much may be under way: a window more or less costs nothing on a network of one cluster. */
const WINDOW_BYTES = 1024 * 1024;
const HEADERS_BYTES_MAX = 16 * 1024;

/** Takes the connection over, and ends it in any case. */
export async function openGrpcStream(
  origin: string,
  socket: Socket,
  call: GrpcCall,
): Promise<AsyncIterable<Buffer>> {
  const session = connect(origin, {
    createConnection: () => socket,
    settings: {
      enablePush: false,
      initialWindowSize: WINDOW_BYTES,
      maxHeaderListSize: HEADERS_BYTES_MAX,
    },
  });
  // Told by the stream, or by nobody when that is over.
  session.on('error', () => undefined);
  try {
    await greeted(session, call.signal);
    session.setLocalWindowSize(WINDOW_BYTES);
    const stream = asked(session, call);
    assertBegun(await responseOf(stream));
    return await begun(answers(session, stream));
  } catch (error) {
    session.destroy();
    throw error;
  }
}

async function greeted(session: ClientHttp2Session, signal: AbortSignal): Promise<void> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(HELLO_MS)]);
  const closed = new AbortController();
  session.once('close', () => closed.abort());
  try {
    await once(session, 'remoteSettings', { signal: AbortSignal.any([inTime, closed.signal]) });
  } catch (error) {
    throw new NoGrpc('it does not speak HTTP/2', error);
  }
}

function asked(session: ClientHttp2Session, call: GrpcCall): ClientHttp2Stream {
  const { path, token, silenceMs, signal } = call;
  const headers = {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(token === undefined ? {} : { token }),
  };
  const stream = session.request(headers, { signal });
  stream.setTimeout(silenceMs, () => {
    stream.destroy(new Error(`nothing came for ${silenceMs / 1_000} s`));
  });
  // An empty message: not compressed, and without a byte.
  stream.end(Buffer.alloc(5));
  return stream;
}

type Headers = IncomingHttpHeaders & IncomingHttpStatusHeader;

function responseOf(stream: ClientHttp2Stream): Promise<Headers> {
  return new Promise((resolve, reject) => {
    stream.once('response', resolve);
    // A later one is told to whoever reads.
    stream.on('error', reject);
    stream.once('close', () => reject(new Error('it closed the connection')));
  });
}

function assertBegun(headers: Headers): void {
  const { ':status': status, 'content-type': type = '' } = headers;
  if (Number(status) !== 200 || !type.startsWith('application/grpc')) {
    throw new NoGrpc(`it answered ${status ?? ''} with ${type}`);
  }
  // A refusal has its trailers at once, and nothing before.
  if (headers['grpc-status'] !== undefined) assertOk(headers);
}

/** With the first message: a refusal may have headers of its own before it. */
async function begun(messages: AsyncGenerator<Buffer>): Promise<AsyncIterable<Buffer>> {
  const first = await messages.next();
  async function* all(): AsyncGenerator<Buffer> {
    if (first.done === true) return;
    try {
      yield first.value;
      yield* messages;
    } finally {
      await messages.return(undefined);
    }
  }
  return all();
}

async function* answers(
  session: ClientHttp2Session,
  stream: ClientHttp2Stream,
): AsyncGenerator<Buffer> {
  let trailers: IncomingHttpHeaders | undefined;
  stream.once('trailers', (told: IncomingHttpHeaders) => (trailers = told));
  try {
    yield* messagesIn(stream);
    if (!stream.closed) await once(stream, 'close');
    if (trailers === undefined) throw new Error('the stream ended without a word');
    assertOk(trailers);
  } finally {
    session.destroy();
  }
}

function assertOk(told: IncomingHttpHeaders): void {
  const [status, message] = [told['grpc-status'], told['grpc-message']];
  if (status === '0') return;
  throw new GrpcRefusal(Number(status), decoded(String(message ?? '')));
}

/** Bytes that are no letters are written as in a URL. */
function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
