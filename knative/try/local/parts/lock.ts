// A lock between processes that its holder cannot leave behind: the name of an abstract Unix
// socket, which the kernel frees in the moment its process ends, however it ends.
import { type Server, type Socket, connect, createServer } from 'node:net';

/** Only the time between a holder's last word and the freeing of the name is ever slept. */
const RETRY_PAUSE_MS = 20;

export interface LockOptions {
  readonly signal?: AbortSignal;
  /** Called once when somebody else holds the lock. */
  readonly onWait: () => void;
}

export async function withLock<T>(
  name: string,
  options: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const held = await acquire(name, options);
  try {
    return await work();
  } finally {
    await held.release();
  }
}

interface Held {
  release(): Promise<void>;
}

async function acquire(name: string, { signal, onWait }: LockOptions): Promise<Held> {
  // Linux only, like the parts: a leading NUL puts the name outside the file system.
  const address = `\0${name}`;
  let hasWaited = false;
  for (;;) {
    signal?.throwIfAborted();
    const held = await tryListen(address);
    if (held !== undefined) return held;
    if (!hasWaited) onWait();
    hasWaited = true;
    signal?.throwIfAborted();
    await holderLetsGo(address, signal);
  }
}

async function tryListen(address: string): Promise<Held | undefined> {
  const waiting = new Set<Socket>();
  const server: Server = createServer((socket) => {
    waiting.add(socket);
    // A waiter that was killed is no concern of the holder.
    socket.on('error', () => undefined).once('close', () => waiting.delete(socket));
  });
  const isMine = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(address, () => resolve(true));
  });
  if (!isMine) return undefined;
  const release = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of waiting) socket.destroy();
    await closed;
  };
  return { release };
}

/** The connection to the holder ends with the holder. */
async function holderLetsGo(address: string, signal?: AbortSignal): Promise<void> {
  const socket = connect(address);
  const onAbort = (): void => {
    socket.destroy();
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  // Any error means that nobody holds it any more, or is about to be seen as such by the next try.
  await new Promise<void>((resolve) => {
    socket.on('error', () => undefined).once('close', () => resolve());
    socket.resume();
  });
  signal?.removeEventListener('abort', onAbort);
  await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
}
