// All that a plane's nats-server keeps, which is streams, and the way back to none of them.
import { connect } from 'nats';
import { loginOf } from '../builders/nats-login.ts';

/** `url` is of the account that owns them. */
export async function removeStreams(url: string): Promise<void> {
  const nats = await connect(loginOf(url));
  try {
    const { streams } = await nats.jetstreamManager();
    for await (const { config } of streams.list()) await streams.delete(config.name);
  } finally {
    await nats.close();
  }
}
